//! The flat form of settings in TOML and JSON: names and values in the order of the declarations.

use std::fmt;
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::{Setting, TrainConfig};

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| Setting::all().map(|setting| setting.name).collect());

impl Serialize for TrainConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut file = serializer.serialize_struct("TrainConfig", NAMES.len())?;
        self.write(&mut file)?;
        file.end()
    }
}

impl<'de> Deserialize<'de> for TrainConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("TrainConfig", &NAMES, ConfigVisitor)
    }
}

struct ConfigVisitor;

impl<'de> Visitor<'de> for ConfigVisitor {
    type Value = TrainConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct TrainConfig")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<TrainConfig, A::Error> {
        let mut config = TrainConfig::default();
        let mut seen = Vec::new();
        while let Some(name) = values.next_key_seed(Name)? {
            if seen.contains(&name) {
                return Err(A::Error::duplicate_field(name));
            }
            seen.push(name);
            config.read(name, &mut values)?;
        }
        Ok(config)
    }
}

/// The name of a setting; unknown names are refused with an error that has a position in the file.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<&'static str, E> {
        let known = NAMES.iter().copied().find(|name| *name == text);
        known.ok_or_else(|| E::unknown_field(text, &NAMES))
    }
}
