//! The results in sentences.

use carat::explain::{Group, Property};

use super::{Contrast, Explanation, GroupSummary};
use crate::format;
use crate::statistics::Direction;

/// The number of edges, and how many of them are ranked.
pub fn counts(found: &Explanation) -> Vec<String> {
    let Explanation { edges, ranked, unranked, up_weighted, .. } = found;
    let mut text = format!("{} has {}.", super::listed::plain(&found.data), format::counted(*edges, "edge"));
    if *unranked > 0 {
        let (count, their) = match unranked {
            1 => ("1 is left out of all rankings because its".to_string(), "target has"),
            unranked => {
                (format!("{} are left out of all rankings because their", format::thousands(*unranked)), "targets have")
            }
        };
        text.push_str(&format!(" {count} {their} no other in-edge: attention there is 1 in every network."));
    }
    let mut sentences = vec![text];
    if *ranked == 0 {
        sentences.push("No edge is left to compare.".into());
    } else if found.unchanged {
        sentences
            .push("Both networks weigh every edge alike: no attention changed, and there is nothing to rank.".into());
    } else {
        let share = 100.0 * *up_weighted as f64 / *ranked as f64;
        sentences.push(format!(
            "Of the {} ranked, {} got more attention with CAR ({share:.0} %).",
            format::thousands(*ranked),
            format::thousands(*up_weighted)
        ));
    }
    sentences
}

/// One sentence per property that clearly separates the two ends, the clearest first. The last sentences name the
/// others.
pub fn separation_sentences(found: &Explanation) -> Vec<String> {
    let clarity = |contrast: &Contrast| (contrast.separation.auc - 0.5).abs();
    let mut contrasts: Vec<&Contrast> = found.separates.iter().collect();
    contrasts.sort_by(|a, b| clarity(b).total_cmp(&clarity(a)));
    let (clear, unclear): (Vec<&Contrast>, Vec<&Contrast>) =
        contrasts.into_iter().partition(|contrast| contrast.separation.direction().is_some());
    let mut sentences: Vec<String> = clear.into_iter().map(sentence).collect();
    if !unclear.is_empty() {
        let names: Vec<String> = unclear.iter().map(|contrast| contrast.property.title().to_string()).collect();
        sentences.push(format!("No clear difference in {}.", format::list(&names)));
    }
    let missing =
        found.missing.iter().map(|(property, why)| format!("Not compared: {}, because {why}.", property.title()));
    sentences.extend(missing);
    sentences
}

fn sentence(contrast: &Contrast) -> String {
    let above = contrast.separation.direction() == Some(Direction::Above);
    let (more, less) = match contrast.property {
        Property::SrcDegree => {
            ("come from nodes that more others attend to", "come from nodes that fewer others attend to")
        }
        Property::DstDegree => ("point at nodes with more in-edges", "point at nodes with fewer in-edges"),
        Property::SameClass => ("join nodes of one class more often", "join nodes of one class less often"),
        Property::Similarity => ("join nodes with more similar features", "join nodes with less similar features"),
        Property::YearGap => ("reach further back in time", "reach less far back in time"),
        Property::BaseAttention => ("had more attention to begin with", "had less attention to begin with"),
        Property::Effect => ("do more for the predictions", "do less for the predictions"),
    };
    let typical = |sample: &super::Sample| number(contrast.property, sample.typical(contrast.property));
    format!(
        "Up-weighted edges {}: {} against {} (AUC {:.2}).",
        if above { more } else { less },
        typical(&contrast.up),
        typical(&contrast.down),
        contrast.separation.auc
    )
}

/// A value of a property: a share in percent, or a number.
pub(super) fn number(property: Property, value: f64) -> String {
    match property {
        Property::SameClass => format!("{:.0} %", 100.0 * value),
        Property::SrcDegree | Property::DstDegree => format!("{value:.0}"),
        Property::YearGap => format!("{value:.1}"),
        Property::Similarity => format!("{value:.2}"),
        Property::BaseAttention => attention(value),
        Property::Effect => difference(value),
    }
}

/// Attention or an effect: decimals for ordinary values, a power of ten for tiny ones.
pub(super) fn attention(value: f64) -> String {
    match value {
        value if value == 0.0 || value >= 0.01 => format!("{value:.3}"),
        value if value >= 1e-4 => format!("{value:.5}"),
        value => format!("{value:.1e}"),
    }
}

/// A difference of attention with its sign.
pub(super) fn difference(difference: f64) -> String {
    let sign = if difference < 0.0 { "-" } else { "+" };
    if difference == 0.0 { attention(0.0) } else { format!("{sign}{}", attention(difference.abs())) }
}

/// A change in percent, with only its significant digits. The space is a no-break space.
pub(super) fn percent(change: f64) -> String {
    let number = match change.abs() {
        size if size >= 1e5 => format!("{change:+.1e}"),
        size if size >= 99.5 && change > 0.0 => format!("{change:+.0}"),
        _ => format::signed(change, 1),
    };
    format!("{number}\u{a0}%")
}

/// How every group moved, or why the data cannot show it.
pub fn group_sentences(found: &Explanation) -> Vec<String> {
    found.groups.iter().map(|group| group_sentence(group, found.unchanged)).collect()
}

fn group_sentence(summary: &GroupSummary, unchanged: bool) -> String {
    let title = format::capitalised(summary.group.title());
    if let Some(why) = summary.missing {
        let help = match summary.group {
            Group::SelfCitation => " (a column 'authors' in a folder's nodes table would)",
            Group::Anchor | Group::Narrow => "",
        };
        return format!("{title} cannot be told: {why}{help}.");
    }
    let edges = format::counted(summary.all.edges, "ranked edge");
    if summary.all.edges == 0 {
        return format!("{title}: none among the ranked edges.");
    }
    if unchanged {
        return format!("{title}: {edges}, unchanged.");
    }
    let way = match summary.direction() {
        Some(Direction::Above) => "went up relative to other edges",
        Some(Direction::Below) => "went down relative to other edges",
        None => "did not clearly move relative to other edges",
    };
    let auc = summary.separation.map_or(String::new(), |separation| format!(", AUC {:.2}", separation.auc));
    let median = summary.all.median_change.map_or(format::UNDEFINED.into(), percent);
    format!("{title} {way}: {edges}, median change {median}{auc}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_significant_digits() {
        assert_eq!([0.0, 0.123456, 0.001234, 3.2e-9].map(attention), ["0.000", "0.123", "0.00123", "3.2e-9"]);
        let percents = [2.5e6, 7700.4, 53.26, -99.87, 0.0].map(|change| percent(change).replace('\u{a0}', " "));
        assert_eq!([0.25, -0.0301, 0.0].map(difference), ["+0.250", "-0.030", "0.000"]);
        assert_eq!(percents, ["+2.5e6 %", "+7700 %", "+53.3 %", "-99.9 %", "0.0 %"]);
        assert_eq!(number(Property::SameClass, 0.414), "41 %");
        assert_eq!(number(Property::SrcDegree, 12.0), "12");
    }
}
