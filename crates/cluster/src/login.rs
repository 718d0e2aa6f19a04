//! Who is asking: a user and a password, fixed or renewed while the program runs.

use std::fmt;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

/// A user and a password. The password is never shown, neither by `Debug` nor in an error.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub(crate) username: Option<String>,
    pub(crate) password: String,
}

impl Login {
    /// The login of a user of the server's access lists.
    pub fn user(username: impl Into<String>, password: impl Into<String>) -> Login {
        Login { username: Some(username.into()), password: password.into() }
    }

    /// The password of the default user.
    pub fn password(password: impl Into<String>) -> Login {
        Login { username: None, password: password.into() }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.username.as_deref().unwrap_or("default");
        f.debug_struct("Login").field("user", &user).finish_non_exhaustive()
    }
}

/// Where logins come from, for passwords and tokens that are renewed while the program runs.
///
/// It is asked for each new connection. When the login is renewed, every connection that stands is told (`AUTH`), so
/// that none ends with the old one.
///
/// A [`Login`] is one that never changes. A [`watch::Receiver`] is one that some task of yours renews:
///
/// ```
/// use echomq_cluster::{Login, Settings};
/// # fn main() -> Result<(), echomq_cluster::Error> {
/// let (renew, current) = tokio::sync::watch::channel(Login::user("app", "first token"));
/// let settings = Settings::from_url("redis://10.0.0.1:6379")?.credentials(current);
/// // Later, in the task that fetches tokens:
/// renew.send_replace(Login::user("app", "second token"));
/// # Ok(()) }
/// ```
pub trait Credentials: Send + Sync + 'static {
    /// The login to use now.
    ///
    /// # Errors
    ///
    /// Why there is none, without secrets: the text becomes part of an error.
    fn login(&self) -> BoxFuture<'_, Result<Login, String>>;

    /// Ends when [`Credentials::login`] has another login to give than `used`. If not overridden, never.
    fn renewed<'a>(&'a self, used: &'a Login) -> BoxFuture<'a, ()> {
        let _ = used;
        Box::pin(std::future::pending())
    }
}

impl Credentials for Login {
    fn login(&self) -> BoxFuture<'_, Result<Login, String>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

impl Credentials for watch::Receiver<Login> {
    fn login(&self) -> BoxFuture<'_, Result<Login, String>> {
        Box::pin(std::future::ready(Ok(self.borrow().clone())))
    }

    fn renewed<'a>(&'a self, used: &'a Login) -> BoxFuture<'a, ()> {
        let mut current = self.clone();
        Box::pin(async move {
            if current.wait_for(|login| login != used).await.is_err() {
                // Nobody is left to renew it.
                std::future::pending().await
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_never_shows_its_password() {
        for login in [Login::user("ann", "s3cret"), Login::password("s3cret")] {
            let shown = format!("{login:?}");
            assert!(!shown.contains("s3cret") && shown.contains(".."), "{shown}");
        }
        assert!(format!("{:?}", Login::user("ann", "")).contains("ann"));
    }

    #[tokio::test]
    async fn a_renewal_between_two_questions_is_not_missed() {
        let (renew, current) = watch::channel(Login::password("one"));
        let used = current.login().await.unwrap();
        renew.send_replace(Login::password("two"));
        current.renewed(&used).await;
        assert_eq!(current.login().await.unwrap(), Login::password("two"));
    }
}
