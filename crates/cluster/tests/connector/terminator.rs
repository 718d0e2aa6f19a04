//! Encryption in front of any server: takes encrypted connections and passes on what they say.

use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_rustls::TlsAcceptor;

/// Signs certificates.
pub(crate) struct Authority {
    pub(crate) pem: String,
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
pub(crate) struct Signed {
    pub(crate) pem: String,
    certificate: rcgen::Certificate,
    pub(crate) key: KeyPair,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Authority { pem: certificate.pem(), certificate, issuer: Issuer::new(params, key) }
    }

    /// A certificate for these names and addresses, good for servers and for clients.
    pub(crate) fn sign(&self, names: &[&str]) -> Signed {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Signed { pem: certificate.pem(), certificate, key }
    }
}

/// What a terminator shows, and whom it lets in.
pub(crate) fn shows(server: &Signed, clients_of: Option<&Authority>) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = match clients_of {
        None => builder.unwrap().with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.certificate.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.unwrap().with_client_cert_verifier(verifier.unwrap())
        }
    };
    let key = PrivatePkcs8KeyDer::from(server.key.serialize_der());
    Arc::new(builder.with_single_cert(vec![server.certificate.der().clone()], key.into()).unwrap())
}

/// Ends when dropped, and its connections with it.
pub(crate) struct Terminator {
    pub(crate) port: u16,
    config: Arc<Mutex<Arc<ServerConfig>>>,
    connections: Arc<Mutex<Vec<AbortHandle>>>,
    task: JoinHandle<()>,
}

impl Terminator {
    pub(crate) async fn before(server: String, config: Arc<ServerConfig>) -> Terminator {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let config = Arc::new(Mutex::new(config));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let (shown, open) = (config.clone(), connections.clone());
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let acceptor = TlsAcceptor::from(shown.lock().unwrap().clone());
                let server = server.clone();
                let connection = tokio::spawn(async move {
                    let (Ok(mut client), Ok(mut server)) =
                        (acceptor.accept(client).await, TcpStream::connect(server).await)
                    else {
                        return;
                    };
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                });
                open.lock().unwrap().push(connection.abort_handle());
            }
        });
        Terminator { port, config, connections, task }
    }

    /// Shows another certificate to those who come from now on, and cuts those who are there.
    pub(crate) fn show(&self, config: Arc<ServerConfig>) {
        *self.config.lock().unwrap() = config;
        self.cut();
    }

    pub(crate) fn cut(&self) {
        self.connections.lock().unwrap().drain(..).for_each(|connection| connection.abort());
    }
}

impl Drop for Terminator {
    fn drop(&mut self) {
        self.task.abort();
        self.cut();
    }
}
