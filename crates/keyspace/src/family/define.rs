//! The macro that declares a family.

/// Declares a key family: a type with one constructor, which checks the tag value, and a method for each key.
///
/// ```
/// use echomq_keyspace::{KeyType, Slot, family};
///
/// family! {
///     /// The keys of one order.
///     pub struct OrderKeys(order: "A-Z0-9", 1..=16) {
///         /// Customer, total and status.
///         head: Hash = "order:{order}:head", legacy "order:<order>";
///         /// What happened to the order.
///         history: Stream = "order:{order}:history";
///         /// One line of the order.
///         line(number): Hash = "order:{order}:line:<number>";
///     }
/// }
///
/// let order = OrderKeys::new("A7")?;
/// assert_eq!(order.head().as_bytes(), b"order:{A7}:head");
/// assert_eq!(order.head().key_type(), KeyType::Hash);
/// assert_eq!(order.head().legacy(), [b"order:A7"]);
/// assert_eq!(order.line("3").as_bytes(), b"order:{A7}:line:3");
/// assert_eq!(order.slot(), Slot::of(b"A7"));
/// assert_eq!(order.all().len(), 2);
///
/// let refused = OrderKeys::new("A}7").unwrap_err().to_string();
/// assert!(refused.starts_with(r#"order "A}7" refused: it has "}" at byte 1"#), "{refused}");
/// # Ok::<(), echomq_keyspace::TagValueError>(())
/// ```
///
/// In parentheses stand the tag field, its [`Alphabet`](crate::Alphabet) and its length in bytes. Each key has a
/// [`KeyType`](crate::KeyType) and a pattern ([`Template`](crate::Template)), and may have names from before. A key that
/// an entity has many times names the field that tells them apart; it stands last in the pattern, so its value may be any
/// bytes and neither moves the key nor spells another.
///
/// The type has `new`, `slot`, `all` (the keys without a field), `entity`, a method with the tag field's name that gives the
/// value, and the constant `FAMILY`.
///
/// # What does not compile
///
/// A key without a tag, with a tag that is a constant, empty, or not the tag field:
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// Each key is on a slot of its own.
///     pub struct Order(order: "A-Z0-9", 1..=16) {
///         /// No braces.
///         head: Hash = "order:<order>:head";
///     }
/// }
/// ```
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// All orders are on one slot.
///     pub struct Order(order: "A-Z0-9", 1..=16) {
///         /// A constant.
///         head(id): Hash = "{shop}:order:<id>";
///     }
/// }
/// ```
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// The whole key is hashed.
///     pub struct Order(order: "A-Z0-9", 1..=16) {
///         /// Nothing between the braces.
///         head: Hash = "order:{}:head";
///     }
/// }
/// ```
///
/// A key with two tags, or keys whose tags differ:
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// Only the first braces count.
///     pub struct Order(order: "A-Z0-9", 1..=16) {
///         /// Two pairs.
///         head(user): Hash = "order:{order}:{<user>}";
///     }
/// }
/// ```
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// Two slots.
///     pub struct Order(order: "A-Z0-9", 1..=16) {
///         /// One text.
///         head: Hash = "order:{order}:head";
///         /// Another.
///         items: List = "{order:<order>}:items";
///     }
/// }
/// ```
///
/// Two keys that some value makes equal, and a tag field that could be empty or have a brace:
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// A line called `index` is the index.
///     pub struct Order(order: "A-Z0-9", 1..=16) {
///         /// The lines' numbers.
///         index: Set = "order:{order}:line:index";
///         /// A line.
///         line(number): Hash = "order:{order}:line:<number>";
///     }
/// }
/// ```
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// An empty tag is no tag.
///     pub struct Order(order: "A-Z0-9", 0..=16) {
///         /// A key.
///         head: Hash = "order:{order}:head";
///     }
/// }
/// ```
///
/// ```compile_fail,E0080
/// echomq_keyspace::family! {
///     /// A value with a brace is on another slot.
///     pub struct Order(order: " -~", 1..=16) {
///         /// A key.
///         head: Hash = "order:{order}:head";
///     }
/// }
/// ```
#[macro_export]
macro_rules! family {
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident($tag:ident: $alphabet:literal, $min:literal..=$max:literal) {$(
            $(#[$key_about:meta])*
            $key:ident $(($field:ident))?: $key_type:ident = $pattern:literal $(, legacy $legacy:literal)*;
        )+}
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $name($crate::Entity);

        // Named, so that it is checked also where the family is never used.
        const _: &$crate::Family = $name::FAMILY;

        impl $name {
            /// What the family is made of.
            $vis const FAMILY: &'static $crate::Family = &$crate::Family {
                name: stringify!($name),
                tag: $crate::TagField::declared(stringify!($tag), $alphabet, $min, $max),
                keys: &[$($crate::family!(
                    @spec $tag $key [$($field)?] $key_type $pattern [$($legacy)*]
                )),+],
            }.checked();

            /// Takes the tag value.
            ///
            /// # Errors
            ///
            /// When it is too short, too long, or has a byte outside the alphabet; the error quotes it.
            $vis fn new($tag: impl AsRef<[u8]>) -> Result<$name, $crate::TagValueError> {
                $crate::Entity::new($name::FAMILY, $tag.as_ref()).map($name)
            }

            /// The tag value.
            #[allow(dead_code)]
            $vis fn $tag(&self) -> &[u8] {
                self.0.value()
            }

            /// The slot of every key, known without asking a server.
            #[allow(dead_code)]
            $vis fn slot(&self) -> $crate::Slot {
                self.0.slot()
            }

            /// The keys that stand once, in the order they were declared.
            #[allow(dead_code)]
            $vis fn all(&self) -> $crate::macros::Vec<$crate::FamilyKey> {
                self.0.keys()
            }

            /// The entity that the keys belong to.
            #[allow(dead_code)]
            $vis fn entity(&self) -> &$crate::Entity {
                &self.0
            }

            $(
                $(#[$key_about])*
                #[allow(dead_code)]
                $vis fn $key(&self $(, $field: impl AsRef<[u8]>)?) -> $crate::FamilyKey {
                    const SPEC: &$crate::KeySpec = &$crate::family!(
                        @spec $tag $key [$($field)?] $key_type $pattern [$($legacy)*]
                    );
                    self.0.key(SPEC, $crate::family!(@value $($field)?))
                }
            )+
        }
    };
    (@spec $tag:ident $key:ident [$($field:ident)?] $key_type:ident $pattern:literal [$($legacy:literal)*]) => {
        $crate::KeySpec {
            name: stringify!($key),
            key_type: $crate::KeyType::$key_type,
            template: $crate::KeySpec::declared_template(stringify!($key), $pattern, stringify!($tag)),
            field: $crate::family!(@field $($field)?),
            legacy: &[$($crate::KeySpec::declared_template(stringify!($key), $legacy, stringify!($tag))),*],
        }
    };
    (@field) => { None };
    (@field $field:ident) => { Some(stringify!($field)) };
    (@value) => { b"" };
    (@value $field:ident) => { $field.as_ref() };
}
