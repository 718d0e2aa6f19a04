//! Encryption: whom to trust, and as whom to present oneself.

use std::path::PathBuf;

/// How to encrypt. The files are PEM; they are read again for each new connection, so that a renewed certificate is
/// used without a restart. Without [`Tls::authorities`] the system's trusted authorities are used.
///
/// It takes the feature `tls` of this crate; without it a connection with these settings is an error that says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Tls {
    pub(crate) authorities: Option<PathBuf>,
    pub(crate) identity: Option<Identity>,
    pub(crate) server_name: Option<String>,
}

/// The files of a client's certificate and of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Tls {
    /// Encrypted, with the system's trusted authorities and without a certificate of the client's own.
    pub fn new() -> Tls {
        Tls::default()
    }

    /// Trusts the certificates of this file, and no others.
    pub fn authorities(mut self, file: impl Into<PathBuf>) -> Tls {
        self.authorities = Some(file.into());
        self
    }

    /// Presents this certificate (and what leads to its authority) with this private key.
    pub fn identity(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Tls {
        self.identity = Some(Identity { certificate: certificate.into(), key: key.into() });
        self
    }

    /// Expects this name in the certificate of every node, whatever name or address the node is reached by.
    pub fn server_name(mut self, name: impl Into<String>) -> Tls {
        self.server_name = Some(name.into());
        self
    }
}

#[cfg(feature = "tls")]
pub(crate) use reading::certificates;

#[cfg(feature = "tls")]
mod reading {
    use std::path::Path;

    use redis::{ClientTlsConfig, TlsCertificates};

    use super::Tls;

    /// Reads the files.
    pub(crate) async fn certificates(tls: &Tls) -> Result<TlsCertificates, String> {
        // A program that links several providers has to choose one; ours is used where nobody did.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let root_cert = match &tls.authorities {
            Some(file) => Some(read(file).await?),
            None => None,
        };
        let client_tls = match &tls.identity {
            Some(files) => Some(ClientTlsConfig {
                client_cert: read(&files.certificate).await?,
                client_key: read(&files.key).await?,
            }),
            None => None,
        };
        Ok(TlsCertificates { client_tls, root_cert })
    }

    async fn read(file: &Path) -> Result<Vec<u8>, String> {
        tokio::fs::read(file)
            .await
            .map_err(|error| format!("can not read {file:?}: {error}. Name a PEM file"))
    }
}
