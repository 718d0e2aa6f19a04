//! Makes the order file that the demo works off: always the same bytes.
//!
//! ```console
//! $ cargo run -p echomq-load --example make_orders > testdata/orders.ndjson
//! ```

use std::fmt::Write as _;
use std::io::Write as _;

const ORDERS: u32 = 10_000;

/// Country, currency, what prices are multiplied with in the currency's smallest unit, and names as they are
/// written there.
const COUNTRIES: [(&str, &str, u32, [&str; 6]); 12] = [
    (
        "BR",
        "BRL",
        5,
        [
            "João Conceição",
            "Inês Araújo",
            "Thiago Gonçalves",
            "Luíza Magalhães",
            "Caio Leão",
            "Zélia Brandão",
        ],
    ),
    (
        "CZ",
        "CZK",
        23,
        [
            "Jiří Dvořák",
            "Kateřina Němcová",
            "Luboš Šťastný",
            "Žaneta Říhová",
            "Petr Müller",
            "Eliška Kučerová",
        ],
    ),
    (
        "DE",
        "EUR",
        1,
        ["Jürgen Groß", "Käthe Schröder", "Sören Weiß", "Anna Vogel", "Björn Krüger", "Mia Jäger"],
    ),
    (
        "FR",
        "EUR",
        1,
        ["Chloé Lefèvre", "François Noël", "Anaïs Garçon", "Hervé Dupré", "Zoé Bézier", "Lucas Petit"],
    ),
    (
        "GB",
        "GBP",
        1,
        ["Maya O'Brien", "Tom Hughes", "Siân Llewellyn", "Grace \"Gigi\" Moore", "Niamh Byrne", "Ali Khan"],
    ),
    (
        "GR",
        "EUR",
        1,
        ["Ελένη Δήμου", "Νίκος Βλάχος", "Σοφία Ρήγα", "Γιώργος Λύρας", "Άννα Ζώη", "Πέτρος Χαρίτος"],
    ),
    ("IN", "INR", 90, ["आरव शर्मा", "दीया वर्मा", "Priya Nair", "ரவி குமார்", "Arjun Rao", "মিতা দাস"]),
    ("JP", "JPY", 2, ["佐藤 花子", "鈴木 健", "高橋 美咲", "渡辺 翔", "小林 結衣", "中村 蓮"]),
    ("KR", "KRW", 14, ["김민준", "이서연", "박지후", "최하은", "정도윤", "한지우"]),
    (
        "PL",
        "PLN",
        4,
        ["Łukasz Żak", "Małgorzata Wójcik", "Świętosława Król", "Paweł Dąb", "Zofia Jeż", "Michał Słowik"],
    ),
    (
        "TR",
        "TRY",
        40,
        ["Şule Öztürk", "İbrahim Çelik", "Ayşe Yıldız", "Gökhan Işık", "Elif Güneş", "Oğuz Kılıç"],
    ),
    (
        "US",
        "USD",
        1,
        ["Maya Brooks", "José Álvarez", "Chris Nguyễn", "Dana White", "Noah Stone", "Renée Hill"],
    ),
];

/// Article and its price in cents.
const ARTICLES: [(&str, u32); 10] = [
    ("TEA-GREEN-100", 690),
    ("TEA-ASSAM-250", 1_190),
    ("COFFEE-HONDURAS", 1_450),
    ("MUG-BLUE", 890),
    ("POT-CAST-IRON", 5_900),
    ("SIEVE-STEEL", 450),
    ("HONEY-LIME", 720),
    ("BISCUIT-ORANGE", 380),
    ("TRAY-OAK", 3_200),
    ("CANDLE-BEESWAX", 1_050),
];

/// What an order waits for, and in how many of ten.
const STATUSES: [(&str, u32); 4] = [("placed", 3), ("confirmed", 3), ("paid", 2), ("shipped", 2)];

fn main() -> std::io::Result<()> {
    std::io::stdout().lock().write_all(orders().as_bytes())
}

/// The whole file.
pub fn orders() -> String {
    let mut dice = Dice(0x0ecb_0a11);
    let mut file = String::new();
    for n in 1..=ORDERS {
        order(&mut file, &mut dice, n);
        file.push('\n');
    }
    file
}

fn order(line: &mut String, dice: &mut Dice, n: u32) {
    let (country, currency, rate, names) = &COUNTRIES[dice.below(COUNTRIES.len())];
    let customer = names[dice.below(names.len())].replace('"', "\\\"");
    let _ = write!(
        line,
        r#"{{"order":"A-{:06}","customer":"{customer}","country":"{country}","items":["#,
        100_000 + n
    );
    let mut total = 0;
    for i in 0..1 + dice.below(6) / 3 {
        let (article, cents) = ARTICLES[dice.below(ARTICLES.len())];
        let (quantity, price) = (1 + dice.below(3) as u32, cents * rate);
        total += quantity * price;
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(line, r#"{comma}{{"sku":"{article}","qty":{quantity},"price":{price}}}"#);
    }
    let _ = write!(line, r#"],"total":{total},"currency":"{currency}","status":"{}"}}"#, status(dice));
}

fn status(dice: &mut Dice) -> &'static str {
    let mut roll = dice.below(10) as u32;
    for (status, share) in STATUSES {
        if roll < share {
            return status;
        }
        roll -= share;
    }
    STATUSES[0].0
}

/// SplitMix64: the same numbers on every machine and in every release.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}
