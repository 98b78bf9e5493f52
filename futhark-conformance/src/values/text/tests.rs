use super::*;

fn shown(text: &str) -> Vec<String> {
    let values = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    values.iter().map(|v| v.to_string()).collect()
}

fn refused(text: &str) -> TextError {
    match parse(text) {
        Err(error) => error,
        Ok(values) => panic!("{text} was accepted as {values:?}"),
    }
}

#[test]
fn generators_are_types_with_sizes_or_numbers() {
    let generator = |text| Cursor::new(text).generator();
    for ty in ["[10][2]f32", "bool"] {
        assert_eq!(generator(ty).unwrap(), Generator::Type(ty.to_owned()));
    }
    let number = generator("7i8 bool").unwrap();
    assert!(matches!(number, Generator::Value(value) if value.to_string() == "7i8"));
    for text in ["[]i32", "[n]i32", "[3]x", "[1,2]", "x", ""] {
        assert_eq!(generator(text).unwrap_err().at, 0, "{text}");
    }
}

#[test]
fn several_values_are_parsed() {
    assert_eq!(shown("1 2.5 true"), ["1i32", "2.5f64", "true"]);
    assert_eq!(
        shown("  [1,2] -3i8 [[1.5f32],[2]]"),
        ["[1i32, 2]", "-3i8", "[[1.5f32], [2.0]]"]
    );
    assert_eq!(shown(""), Vec::<String>::new());
    assert_eq!(shown("[1,2,]"), ["[1i32, 2]"], "a trailing comma");
}

#[test]
fn the_first_element_decides_the_type() {
    assert_eq!(shown("[1u8, 2, 255]"), ["[1u8, 2, 255]"]);
    assert_eq!(
        shown("[f32.nan, -f32.inf, 1]"),
        ["[f32.nan, -f32.inf, 1.0]"]
    );
    assert_eq!(shown("[1.0, 2]"), ["[1.0f64, 2.0]"]);
    assert_eq!(shown("[[1f16],[2.5]]"), ["[[1.0f16], [2.5]]"]);
    // As in the compiler's reader, a capital exponent without a point needs a type that is known.
    assert_eq!(shown("[1.0, 1E5f64, -1E-2]"), ["[1.0f64, 100000.0, -0.01]"]);
    for wrong in [
        "[1u8, 2i8]",
        "[1, 2u8]",
        "[1, 2.5]",
        "[true, 1]",
        "[1, true]",
        "[1.0, 2f32]",
        "1E5",
        "[1E5, 1.0]",
        "[1.0, [2.0]]",
    ] {
        refused(wrong);
    }
}

#[test]
fn a_number_of_an_input_takes_the_type_of_its_parameter() {
    let input = |text, elem| parse_input(text, elem).unwrap();
    let (value, length) = input("[1, -- one\n2] 3", Some(ElemType::F16));
    assert_eq!((value.to_string().as_str(), length), ("[1.0f16, 2.0]", 13));
    for elem in [None, Some(ElemType::U8), Some(ElemType::I32)] {
        assert_eq!(input("[1, 2u8]", elem).0.to_string(), "[1u8, 2]");
    }
    assert_eq!(input("1.5", None).0.to_string(), "1.5f64");
    assert!(parse_input("1.5", Some(ElemType::I32)).is_err());
    assert!(parse_input("1", Some(ElemType::Bool)).is_err());
}

#[test]
fn empty_arrays_need_a_type_and_a_zero_size() {
    let values = parse("empty([0][3]i32)").unwrap();
    assert_eq!(values[0].shape(), [0, 3]);
    assert_eq!(shown("empty([3][0]bool)"), ["empty([3][0]bool)"]);
    for wrong in [
        "[]",
        "empty([1]i32)",
        "empty(i32)",
        "empty([0]i31)",
        "empty([0][9223372036854775808]i32)",
        &format!("empty({}i32)", "[0]".repeat(101)),
        "empty([0]i32",
        "empty([x]i32)",
        "empty( [0]i32)",
    ] {
        refused(wrong);
    }
}

#[test]
fn strings_are_arrays_of_bytes() {
    assert_eq!(shown(r#""aB\n""#), ["[97u8, 66, 10]"]);
    let values = parse("\"\"").unwrap();
    assert_eq!(values[0].shape(), [0]);
    assert_eq!(shown(r#""\65\x41\o101\0""#), ["[65u8, 65, 65, 0]"]);
    assert_eq!(shown(r#""\SOH\SO\DEL\^A\X41""#), ["[1u8, 14, 127, 1, 65]"]);
    refused("\"abc");
    refused(r#""\q""#);
}

#[test]
fn invalid_values_are_errors_with_a_position() {
    assert_eq!(refused("1 foo").at, 2);
    assert_eq!(refused("[[1,2],[3]]").at, 7);
    assert_eq!(refused("[1 2]").at, 3);
    assert_eq!(refused("[1").at, 2);
    let deep = "[".repeat(100_000);
    assert!(refused(&deep).message.contains("brackets are open"));
    assert_eq!(refused("{").message, "expected a value, found \"{\"");
}

#[test]
fn long_texts_are_parsed() {
    let text = format!("[{}]", "1_000i64, ".repeat(50_000));
    let value = parse(&text).unwrap().remove(0);
    assert_eq!(value.shape(), [50_000]);
    assert_eq!(shown("empty([9223372036854775807][4][0]u8)").len(), 1);
}

#[test]
fn messages_quote_only_the_beginning_of_a_text() {
    assert_eq!(found("a\x1b\n\u{202e}"), r#""a\u{1b}\n\u{202e}""#);
    let long = "é".repeat(1000);
    assert_eq!(found(&long), format!("{:?}...", "é".repeat(40)));
    let words = [
        long.clone(),
        "1".repeat(1000) + "_x",
        format!("empty([{long}]i32)"),
        format!("empty([0]{long})"),
        format!("[{long}]"),
    ];
    for word in words {
        let message = refused(&word).message;
        assert!(message.chars().count() < 150, "{message}");
    }
    let decimal = "0.".to_owned() + &"1".repeat(1000);
    let message = parse_input(&decimal, Some(ElemType::I32))
        .unwrap_err()
        .message;
    assert!(message.len() < 150, "{message}");
    let generated = parse_generators(&long).unwrap_err().message;
    assert!(generated.chars().count() < 150, "{generated}");
}

fn as_i64(token: &str) -> Option<i64> {
    let (number, _) = read_number(token, false)?;
    bits_of(number, ElemType::I64).map(u64::cast_signed)
}

fn as_f64(token: &str) -> Option<f64> {
    let (number, _) = read_number(token, false)?;
    bits_of(number, ElemType::F64).map(f64::from_bits)
}

#[test]
fn integers_are_parsed_in_every_notation() {
    assert_eq!(as_i64("42"), Some(42));
    assert_eq!(as_i64("-1_000_000"), Some(-1_000_000));
    assert_eq!(as_i64("+7i64"), Some(7));
    assert_eq!(as_i64("0xFF_ff"), Some(0xFFFF));
    assert_eq!(as_i64("-0b1010i8"), Some(-10));
    assert_eq!(as_i64("9223372036854775808"), Some(i64::MIN), "wraps");
    for wrong in ["", "-", "0x", "1x", "_1", "i32", "12i7", "--1"] {
        assert_eq!(read_number(wrong, false), None, "{wrong:?}");
    }
}

#[test]
fn suffixes_give_the_type() {
    let suffix = |token| read_number(token, false).and_then(|(_, suffix)| suffix);
    assert_eq!(suffix("1u8"), Some(ElemType::U8));
    assert_eq!(suffix("1"), None);
    assert_eq!(suffix("1f16"), Some(ElemType::F16));
    assert_eq!(suffix("-f64.inf"), Some(ElemType::F64));
    assert_eq!(suffix("0xf16"), None, "a hexadecimal integer");
    assert_eq!(as_i64("0xf16"), Some(0xf16));
    assert_eq!(suffix("0x10u8"), Some(ElemType::U8));
}

#[test]
fn floats_are_parsed_in_every_notation() {
    assert_eq!(as_f64("1.5e-3"), Some(0.0015));
    assert_eq!(as_f64("-2.0f32"), Some(-2.0));
    assert_eq!(as_f64("3"), Some(3.0));
    assert_eq!(as_f64("1e1_0"), Some(1e10));
    assert_eq!(as_f64("1.0E1"), Some(10.0));
    assert_eq!(as_f64("-f32.inf"), Some(f64::NEG_INFINITY));
    assert!(as_f64("f16.nan").is_some_and(f64::is_nan));
    assert_eq!(as_i64("1.5"), None, "a float is not an integer");
    assert_eq!(as_f64("true"), None);
    for wrong in [
        ".5", "1.", "1.e5", "1e", "1E1", "1.2.3", "f32.max", "i32.nan", "0x1.8", "0x1p4",
        "-f32.nan", "+f32.inf",
    ] {
        assert_eq!(read_number(wrong, false), None, "{wrong:?}");
    }
}

#[test]
fn single_precision_is_rounded_once() {
    // So close above a midpoint that parsing it as f64 gives the midpoint, which then rounds
    // down.
    let token = "1.000000059604644775390625000000000001";
    let (number, _) = read_number(token, false).unwrap();
    assert_eq!(bits_of(number, ElemType::F32), Some(0x3f80_0001));
}
