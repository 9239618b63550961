//! The appendix's table of dataset statistics, ours beside the paper's.

use carat::Error;
use carat_lab::sweep::Grid;
use carat_report::{Cell, Table, format};

use super::{About, Draft, Inputs, Item, ItemRuns, Scope, paper};

/// Sizes, splits and homophily of the datasets.
pub(super) struct Datasets;

impl Item for Datasets {
    fn about(&self) -> About {
        About { name: "datasets", title: "Datasets", paper_says: "eight datasets, with the statistics in brackets." }
    }

    fn grids(&self, _: &Scope) -> Vec<Grid> {
        Vec::new()
    }

    fn is_ready(&self, _: &ItemRuns<'_>) -> bool {
        true
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { scope, studies, .. } = inputs;
        let mut rows = Vec::new();
        let (mut differing, mut unopened) = (Vec::new(), Vec::new());
        for (data, sizes) in &studies.sizes {
            let Some(figures) = paper::DATASETS.iter().find(|figures| figures.data == data) else { continue };
            let sizes = match sizes {
                Ok(sizes) => sizes,
                Err(problem) => {
                    unopened.push(format!("{} is not shown: {problem}", paper::title(figures.data)));
                    continue;
                }
            };
            let ours = [sizes.classes, sizes.nodes, sizes.edges, sizes.splits];
            let theirs = [figures.classes, figures.nodes, figures.edges, figures.splits];
            let (degree, homophily) = (sizes.mean_degree, sizes.homophily);
            let same_degree = format!("{degree:.1}") == format!("{:.1}", figures.mean_degree);
            // The paper's table has two decimals.
            let same_homophily = homophily.is_some_and(|h| (h - figures.homophily).abs() < 0.0051);
            if ours != theirs || !same_degree || !same_homophily {
                differing.push(paper::title(figures.data));
            }
            let counts = ours.iter().zip(theirs).map(|(ours, theirs)| {
                let text = format!("{} ({})", format::thousands(*ours), format::thousands(theirs));
                Cell::number(text, *ours as f64).strong_if(*ours != theirs)
            });
            let mut row = vec![Cell::text(paper::title(figures.data))];
            row.extend(counts);
            row.push(Cell::number(format!("{degree:.1} ({:.1})", figures.mean_degree), degree).strong_if(!same_degree));
            row.push(homophily.map_or(Cell::text(format::UNDEFINED), |h| {
                Cell::number(format!("{h:.2} ({:.2})", figures.homophily), h).strong_if(!same_homophily)
            }));
            row.push(format::count_cell(sizes.features));
            rows.push(row);
        }
        let agreeing = rows.len() - differing.len();
        let mut sentences =
            vec![format!("{agreeing} of {} have the paper's statistics", format::counted(rows.len(), "dataset"))];
        if !differing.is_empty() {
            sentences.push(format!("other figures stand out in the table: {}", format::list(&differing)));
        }
        sentences.extend(unopened);
        let absent = paper::DATASETS.iter().filter(|figures| !scope.datasets.iter().any(|data| data == figures.data));
        let absent: Vec<String> = absent.map(|figures| figures.title.to_string()).collect();
        if !absent.is_empty() {
            sentences.push(format!("without {}: not asked for, or not in the data folder", format::list(&absent)));
        }
        if scope.datasets.iter().any(|data| data == super::grids::LARGE) {
            sentences.push(
                "arxiv-tape is ogbn-arxiv's graph with its labels and split, but with 40 features made from \
                a language model's guesses instead of the 128 official ones; its losses and accuracies are not \
                comparable"
                    .to_string(),
            );
        }
        draft.found(sentences);
        let headings = ["classes", "nodes", "edges", "splits", "mean degree", "homophily", "features"];
        let caption = "Statistics of the data here, the paper's in brackets. Edges are directed, without duplicates \
            and self-loops.";
        draft.table(Table::new("datasets", caption, ["dataset"], headings, rows));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scope::everything;
    use super::super::tests::section;
    use super::*;
    use carat_report::Block;

    #[test]
    fn missing_data_is_named_and_is_no_error() {
        let scope = Scope { datasets: vec!["cora".into()], ..everything(true) };
        let section = section(&Datasets, &[], &scope);
        let Some(Block::Points(points)) = section.blocks.get(2) else { panic!("{section:?}") };
        assert_eq!(points[0], "0 of 0 datasets have the paper's statistics.");
        assert!(points[1].starts_with("Cora is not shown: cora is not in the data folder"), "{points:?}");
        assert!(points[2].starts_with("Without CiteSeer, PubMed, ogbn-arxiv, Chameleon"), "{points:?}");
    }
}
