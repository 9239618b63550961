//! The macros that declare settings. All code that must know every setting is generated from the declarations.

/// Declares a group of settings: a struct of `TrainConfig`'s tree with a row per field.
///
/// ```text
/// /// Documentation of the field, and help of the flag.
/// field: Type = default, "name" "VALUE"   name in files and flags; VALUE in the flag's help, no flag without it
///     , default "in words"                where the default's own text does not say it
///     , cal 128                           CAL's own default
///     , check function                    refuses values: fn(name, &value, &TrainConfig) -> Result<(), Error>
///     , unused function                   why runs do not read it: fn(&TrainConfig) -> Option<Unused>
///     , unread function                   regularisers that do not read it: fn(&RegulariserSettings) -> bool
///     , late true                         it came later: files leave it out at its default
///     ;
/// ```
///
/// The fields exist in this one place, so a setting cannot be missing from files, flags, grids, checks or pairing keys.
/// `field as method` gives the builder method another name than the field. A group's `unused` applies to its settings
/// without one. `at top` declares settings that are fields of `TrainConfig` itself.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $group:ident at $place:ident, unused $group_unused:path {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $setter:ident)?: $type:ty = $default:expr,
                $name:literal $($value_name:literal)?
                $(, default $shown:literal)?
                $(, cal $cal:literal)?
                $(, check $check:path)?
                $(, unused $unused:path)?
                $(, unread $unread:path)?
                $(, late $late:literal)?
                ;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $visibility struct $group {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for $group {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $group {
            pub(super) const SETTINGS: &'static [$crate::Setting] = &[$($crate::Setting {
                name: $name,
                docs: &[$($doc),+],
                value_name: settings!(@option $($value_name)?),
                default_in_words: settings!(@option $($shown)?),
                cal_default: settings!(@option $(stringify!($cal))?),
                is_list: <$type as $crate::settings::SettingValue>::IS_LIST,
                is_switch: <$type as $crate::settings::SettingValue>::IS_SWITCH,
                may_be_negative: <$type as $crate::settings::SettingValue>::MAY_BE_NEGATIVE,
                is_of_regulariser: settings!(@is_regulariser $place),
                text: |config| $crate::settings::SettingValue::text(&settings!(@of config $place $field)),
                parse: |config, text| {
                    settings!(@of config $place $field) = $crate::settings::SettingValue::parse(text)?;
                    Ok(())
                },
                copy: |from, to| settings!(@of to $place $field).clone_from(&settings!(@of from $place $field)),
                is_same: |one, other| settings!(@of one $place $field) == settings!(@of other $place $field),
                set_cal_default: settings!(@option $(|config| settings!(@of config $place $field) = $cal)?),
                check: settings!(@check $name, $place, $field, $($check)?),
                unused: settings!(@or [$($unused)?] $group_unused),
                unread: settings!(@or [$($unread)?] $crate::settings::always_read),
            }),+];

            /// Writes the settings that files have.
            pub(super) fn write<S: serde::ser::SerializeStruct>(
                config: &$crate::TrainConfig,
                to: &mut S,
            ) -> Result<(), S::Error> {
                $({
                    let value = &settings!(@of config $place $field);
                    let (is_late, default): (bool, $type) = (settings!(@or [$($late)?] false), $default);
                    if !$crate::settings::SettingValue::is_unset(value) && !(is_late && *value == default) {
                        to.serialize_field($name, value)?;
                    }
                })+
                Ok(())
            }

            /// Reads the value of a setting; false where the name is not in this group.
            pub(super) fn read<'de, A: serde::de::MapAccess<'de>>(
                config: &mut $crate::TrainConfig,
                name: &str,
                values: &mut A,
            ) -> Result<bool, A::Error> {
                match name {
                    $($name => settings!(@of config $place $field) = values.next_value()?,)+
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        /// Settings one by one.
        impl $crate::TrainConfig {
            $(settings!(@setter $place $field [$($setter)? $field] $type, $($doc)+);)+
        }
    };

    (@of $config:ident top $field:ident) => { $config.$field };
    (@of $config:ident $place:ident $field:ident) => { $config.$place.$field };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@or [] $other:expr) => { $other };
    (@or [$value:expr] $other:expr) => { $value };
    (@is_regulariser regulariser) => { true };
    (@is_regulariser $place:ident) => { false };
    (@check $name:literal, $place:ident, $field:ident,) => { |_| Ok(()) };
    (@check $name:literal, $place:ident, $field:ident, $check:path) => {
        |config| $check($name, &settings!(@of config $place $field), config)
    };
    (@setter $place:ident $field:ident [$setter:ident $($rest:ident)?] $type:ty, $($doc:literal)+) => {
        $(#[doc = $doc])+
        #[must_use]
        pub fn $setter(mut self, $field: $type) -> Self {
            settings!(@of self $place $field) = $field;
            self
        }
    };
}

/// Makes `TrainConfig` from groups of settings and from single ones, and lists them in the order of files.
macro_rules! tree {
    (
        $(#[$meta:meta])*
        pub struct $tree:ident {
            $($(#[doc = $doc:literal])+ pub $place:ident: $type:ty = $group:ident $(.$field:ident)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $tree {
            $($(#[doc = $doc])+ pub $place: $type,)+
        }

        impl Default for $tree {
            fn default() -> Self {
                Self { $($place: $group::default()$(.$field)?,)+ }
            }
        }

        /// Every setting, group by group.
        const GROUPS: &[&[crate::Setting]] = &[$($group::SETTINGS),+];

        impl $tree {
            fn write<S: serde::ser::SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error> {
                $($group::write(self, to)?;)+
                Ok(())
            }

            fn read<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                values: &mut A,
            ) -> Result<bool, A::Error> {
                Ok($($group::read(self, name, values)?)||+)
            }
        }
    };
}

pub(crate) use {settings, tree};
