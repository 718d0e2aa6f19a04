//! Families as an application declares them: an order, a stock item, a session.

use echomq_keyspace::{Entity, FamilyKey, KeyType, Slot, TagValueError, family, judge};
use proptest::prelude::*;

family! {
    /// An order: header, lines, totals, status and history are changed together.
    struct OrderKeys(order: "A-Za-z0-9-", 1..=32) {
        /// Customer, currency, address.
        head: Hash = "order:{order}:head", legacy "order:<order>:head", legacy "orders/<order>";
        /// The articles.
        items: List = "order:{order}:items", legacy "order:<order>:items";
        /// One line.
        line(number): Hash = "order:{order}:line:<number>", legacy "order:<order>:line:<number>";
        /// Net, tax, gross.
        totals: Hash = "order:{order}:totals";
        /// Where it stands.
        status: String = "order:{order}:status";
        /// Each change of the status.
        history: Stream = "order:{order}:history";
    }
}

family! {
    /// A stock item: what is there, reserved and sold.
    struct StockKeys(sku: r"A-Z0-9._\-", 3..=20) {
        available: String = "stock:{sku:<sku>}:available";
        reserved: String = "stock:{sku:<sku>}:reserved";
        sold: String = "stock:{sku:<sku>}:sold";
        reservation(id): Hash = "stock:{sku:<sku>}:reservation:<id>";
        waiting: SortedSet = "stock:{sku:<sku>}:waiting";
        watchers: Set = "stock:{sku:<sku>}:watchers";
    }
}

family! {
    /// A session: exactly 32 hexadecimal digits.
    struct SessionKeys(session: "0-9a-f", 32..=32) {
        data: Hash = "session:{session}:data";
        user: String = "session:{session}:user";
        cart: Hash = "session:{session}:cart";
        expiry: SortedSet = "session:{session}:expiry";
        events: Channel = "session:{session}:events";
    }
}

const SESSION: &str = "0123456789abcdef0123456789abcdef";

fn names(keys: &[FamilyKey]) -> Vec<(&'static str, KeyType)> {
    keys.iter().map(|key| (key.name(), key.key_type())).collect()
}

#[test]
fn each_key_is_a_method_with_its_type_and_all_are_on_one_slot() {
    let order = OrderKeys::new("u42").unwrap();
    assert_eq!(order.items().as_bytes(), b"order:{u42}:items");
    assert_eq!(order.line("7").as_bytes(), b"order:{u42}:line:7");
    assert_eq!(order.order(), b"u42");
    assert_eq!(order.slot(), Slot::of(b"u42"));
    assert_eq!(
        names(&order.all()),
        [
            ("head", KeyType::Hash),
            ("items", KeyType::List),
            ("totals", KeyType::Hash),
            ("status", KeyType::String),
            ("history", KeyType::Stream)
        ]
    );
    assert!(judge(&order.all()).is_clean());
    assert_eq!(SessionKeys::new(SESSION).unwrap().events().key_type(), KeyType::Channel);
}

#[test]
fn text_in_the_tag_tells_families_with_equal_values_apart() {
    let (order, stock) = (OrderKeys::new("A-1").unwrap(), StockKeys::new("A-1").unwrap());
    assert_eq!(stock.sold().as_bytes(), b"stock:{sku:A-1}:sold");
    assert_eq!(stock.slot(), Slot::of(b"sku:A-1"));
    assert_ne!(order.slot(), stock.slot());
}

#[test]
fn a_key_knows_its_names_from_before() {
    let order = OrderKeys::new("u42").unwrap();
    assert_eq!(order.head().legacy(), [b"order:u42:head".as_slice(), b"orders/u42"]);
    assert_eq!(order.line("{1}").legacy(), [b"order:u42:line:{1}"]);
    assert!(order.totals().legacy().is_empty());
}

#[test]
fn a_value_that_could_break_the_tag_is_refused_and_quoted() {
    let refused = |value: &str| OrderKeys::new(value).unwrap_err().to_string();
    let rule = r"; use 1 to 32 bytes of \-0-9A-Za-z";
    assert_eq!(refused(""), format!("order \"\" refused: it is empty, and an empty tag is no tag{rule}"));
    assert_eq!(
        refused("a}b"),
        format!(
            "order \"a}}b\" refused: it has \"}}\" at byte 1; a brace would change which bytes are hashed{rule}"
        )
    );
    assert_eq!(refused("a\n"), format!("order \"a\\n\" refused: it has \"\\n\" at byte 1{rule}"));
    assert!(refused(&"x".repeat(33)).contains("it has 33 bytes"));
    assert_eq!(
        SessionKeys::new("0F").unwrap_err().to_string(),
        "session \"0F\" refused: it has 2 bytes; use 32 bytes of 0-9a-f"
    );
    assert_eq!(OrderKeys::new("é").unwrap_err().value(), "é".as_bytes());
}

#[test]
fn families_are_known_as_values_too() {
    assert_eq!(OrderKeys::FAMILY.name, "OrderKeys");
    let spec = OrderKeys::FAMILY.keys.iter().find(|spec| spec.name == "line").unwrap();
    let entity = Entity::new(OrderKeys::FAMILY, b"u42").unwrap();
    assert_eq!(entity.key(spec, b"7"), OrderKeys::new("u42").unwrap().line("7"));
    assert_eq!(format!("{entity:?}"), "OrderKeys(\"u42\" on slot 11448)");
}

/// Whatever the value is: it is refused, or every key, of whatever field value, is on the slot that was known before.
fn assert_one_slot<F>(
    made: Result<F, TagValueError>,
    value: &[u8],
    keys: impl Fn(&F) -> (Slot, Vec<FamilyKey>),
) -> bool {
    let family = match made {
        Ok(family) => family,
        Err(error) => {
            assert_eq!(error.value(), value);
            return false;
        }
    };
    let (slot, keys) = keys(&family);
    for key in &keys {
        assert_eq!((Slot::of(key.as_bytes()), key.slot()), (slot, slot), "{key}");
    }
    for (i, key) in keys.iter().enumerate() {
        assert!(keys[..i].iter().all(|other| other.as_bytes() != key.as_bytes()), "{key} twice");
    }
    true
}

fn order_keys(field: &[u8]) -> impl Fn(&OrderKeys) -> (Slot, Vec<FamilyKey>) {
    move |order| (order.slot(), [order.all(), vec![order.line(field)]].concat())
}

fn stock_keys(field: &[u8]) -> impl Fn(&StockKeys) -> (Slot, Vec<FamilyKey>) {
    move |stock| (stock.slot(), [stock.all(), vec![stock.reservation(field)]].concat())
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b':'), b'A'..=b'Z', any::<u8>()], 0..36)
}

proptest! {
    #[test]
    fn all_keys_of_one_value_share_the_slot_whatever_the_value(value in any_bytes(), field in any_bytes()) {
        assert_one_slot(OrderKeys::new(&value), &value, order_keys(&field));
        assert_one_slot(StockKeys::new(&value), &value, stock_keys(&field));
        assert_one_slot(SessionKeys::new(&value), &value, |session| (session.slot(), session.all()));
    }

    #[test]
    fn every_value_of_the_alphabet_is_taken(
        order in "[A-Za-z0-9-]{1,32}", sku in "[A-Z0-9._-]{3,20}", session in "[0-9a-f]{32}", field in any_bytes(),
    ) {
        prop_assert!(assert_one_slot(OrderKeys::new(&order), order.as_bytes(), order_keys(&field)));
        prop_assert!(assert_one_slot(StockKeys::new(&sku), sku.as_bytes(), stock_keys(&field)));
        let session_keys = |session: &SessionKeys| (session.slot(), session.all());
        prop_assert!(assert_one_slot(SessionKeys::new(&session), session.as_bytes(), session_keys));
    }
}
