//! Where things may lie on this machine, as the environment says.

use std::ffi::OsString;
use std::path::PathBuf;

/// The part of the environment that decides where a server and its data are looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// `ECHOMQ_SERVER_BIN`: this server and no other.
    pub(crate) server_bin: Option<PathBuf>,
    /// `PATH`
    pub(crate) path: Option<OsString>,
    /// `ECHOMQ_CACHE_DIR`: this cache folder and no other.
    pub(crate) cache_dir: Option<PathBuf>,
    /// `XDG_CACHE_HOME`
    pub(crate) xdg_cache_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`
    pub(crate) xdg_data_home: Option<PathBuf>,
    /// The user's folder.
    pub(crate) home: Option<PathBuf>,
}

impl Places {
    pub(crate) fn from_env() -> Places {
        // An empty variable counts as unset, as the XDG rules say.
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Places {
            server_bin: var("ECHOMQ_SERVER_BIN").map(PathBuf::from),
            path: var("PATH"),
            cache_dir: var("ECHOMQ_CACHE_DIR").map(PathBuf::from),
            xdg_cache_home: var("XDG_CACHE_HOME").map(PathBuf::from),
            xdg_data_home: var("XDG_DATA_HOME").map(PathBuf::from),
            home: std::env::home_dir(),
        }
    }

    /// Where a fetched server is kept.
    pub(crate) fn cache(&self) -> Option<PathBuf> {
        if let Some(dir) = &self.cache_dir {
            return Some(dir.clone());
        }
        let by_custom = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        self.under(&self.xdg_cache_home, by_custom)
    }

    /// Where the embedded server keeps its data when no folder is named.
    pub(crate) fn data(&self) -> Option<PathBuf> {
        self.under(&self.xdg_data_home, ".local/share")
    }

    /// The XDG rules: a relative path in the variable is not valid and is passed over.
    fn under(&self, xdg: &Option<PathBuf>, by_custom: &str) -> Option<PathBuf> {
        let base = xdg.clone().filter(|path| path.is_absolute());
        base.or_else(|| Some(self.home.as_ref()?.join(by_custom))).map(|base| base.join("echomq"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Places {
        Places { home: Some("/home/ada".into()), ..Places::default() }
    }

    #[test]
    fn the_cache_folder_is_the_named_one_then_the_xdg_one_then_the_custom_one() {
        let custom = if cfg!(target_os = "macos") { "/home/ada/Library/Caches" } else { "/home/ada/.cache" };
        assert_eq!(home().cache(), Some(PathBuf::from(custom).join("echomq")));
        let xdg = Places { xdg_cache_home: Some("/x/cache".into()), ..home() };
        assert_eq!(xdg.cache(), Some("/x/cache/echomq".into()));
        let named = Places { cache_dir: Some("/named".into()), ..xdg };
        assert_eq!(named.cache(), Some("/named".into()));
    }

    #[test]
    fn the_data_folder_is_the_xdg_one_then_the_custom_one() {
        assert_eq!(home().data(), Some("/home/ada/.local/share/echomq".into()));
        let xdg = Places { xdg_data_home: Some("/x/data".into()), ..home() };
        assert_eq!(xdg.data(), Some("/x/data/echomq".into()));
    }

    #[test]
    fn a_relative_xdg_folder_is_passed_over() {
        let xdg = Places { xdg_data_home: Some("data".into()), ..home() };
        assert_eq!(xdg.data(), Some("/home/ada/.local/share/echomq".into()));
    }

    #[test]
    fn without_a_home_there_is_no_folder_to_guess() {
        assert_eq!(Places::default().cache(), None);
        assert_eq!(Places::default().data(), None);
    }
}
