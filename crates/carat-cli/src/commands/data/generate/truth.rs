//! The kinds on which explanations are tested: motifs on a base, infection, and graphs with a spurious base.

use carat_graph::generators::{
    self, BaCommunityConfig, BaShapesConfig, InfectionConfig, MotifConfig, SpuriousMotifConfig, TreeConfig,
};
use carat_graph::{DataError, Dataset, SplitRatio};

use super::Out;
use crate::failure::Failure;

/// The kinds with planted reasons.
#[derive(Debug, clap::Subcommand)]
pub enum Kind {
    BaShapes(BaShapes),
    BaCommunity(BaCommunity),
    TreeCycles(TreeCycles),
    TreeGrid(TreeGrid),
    Infection(Infection),
    SpuriousMotif(SpuriousMotif),
}

impl Kind {
    /// Generates and writes.
    pub fn write(&self) -> Result<(), Failure> {
        let make = |made: Result<Dataset, DataError>| made.map_err(Failure::from);
        match self {
            Self::BaShapes(args) => args.out.write(|| make(generators::ba_shapes(&args.shapes.config()))),
            Self::BaCommunity(args) => args.out.write(|| {
                let config = BaCommunityConfig { shapes: args.shapes.config(), bridges: args.bridges };
                make(generators::ba_community(&config))
            }),
            Self::TreeCycles(args) => args.out.write(|| make(generators::tree_cycles(&args.tree.config()))),
            Self::TreeGrid(args) => args.out.write(|| make(generators::tree_grid(&args.tree.config()))),
            Self::Infection(args) => args.out.write(|| make(generators::infection(&args.config()))),
            Self::SpuriousMotif(args) => args.out.write(|| make(generators::spurious_motif(&args.config()))),
        }
    }
}

/// Houses on a Barabasi-Albert graph; a node's class is its place in a house (GNNExplainer)
#[derive(Debug, clap::Args)]
pub struct BaShapes {
    #[command(flatten)]
    shapes: Shapes,
    #[command(flatten)]
    out: Out,
}

/// Two ba-shapes graphs joined by random edges, with four classes each (GNNExplainer)
#[derive(Debug, clap::Args)]
pub struct BaCommunity {
    #[command(flatten)]
    shapes: Shapes,
    /// Random edges between the communities
    #[arg(long, value_name = "N", default_value_t = BaCommunityConfig::default().bridges)]
    bridges: usize,
    #[command(flatten)]
    out: Out,
}

/// Cycles of six on a binary tree; a node's class is whether it is in a cycle (GNNExplainer)
#[derive(Debug, clap::Args)]
pub struct TreeCycles {
    #[command(flatten)]
    tree: Tree,
    #[command(flatten)]
    out: Out,
}

/// Grids of 3 x 3 on a binary tree; a node's class is whether it is in a grid (GNNExplainer)
#[derive(Debug, clap::Args)]
pub struct TreeGrid {
    #[command(flatten)]
    tree: Tree,
    #[command(flatten)]
    out: Out,
}

#[derive(Debug, clap::Args)]
struct Shapes {
    /// Nodes of each base
    #[arg(long, value_name = "N", default_value_t = BaShapesConfig::default().base_nodes)]
    base_nodes: usize,
    /// Edges that each node brings to its base
    #[arg(long, value_name = "N", default_value_t = BaShapesConfig::default().edges_per_node)]
    edges_per_node: usize,
    #[command(flatten)]
    motifs: Motifs,
}

#[derive(Debug, clap::Args)]
struct Tree {
    /// Levels of the tree below its root
    #[arg(long, value_name = "LEVELS", default_value_t = TreeConfig::default().height)]
    height: u32,
    #[command(flatten)]
    motifs: Motifs,
}

#[derive(Debug, clap::Args)]
struct Motifs {
    /// Motifs, each on another node of the base
    #[arg(long, value_name = "N", default_value_t = MotifConfig::default().motifs)]
    motifs: usize,
    /// Random edges for each node
    #[arg(long, value_name = "SHARE", default_value_t = MotifConfig::default().noise)]
    noise: f64,
    #[command(flatten)]
    features: FeatureChoice,
    /// Shares of each class that train, validate and test
    #[arg(long, default_value_t = MotifConfig::default().split_ratio)]
    split_ratio: SplitRatio,
    /// Seed of everything random
    #[arg(long, default_value_t = MotifConfig::default().seed)]
    seed: u64,
}

#[derive(Debug, clap::Args)]
struct FeatureChoice {
    /// Leave out the degree, which the paper's features do not tell and attention cannot count
    #[arg(long)]
    paper_features: bool,
}

/// A node's class is its distance from the nearest infected node (Faber et al. 2021); train with as many layers
#[derive(Debug, clap::Args)]
pub struct Infection {
    /// Nodes
    #[arg(long, value_name = "N", default_value_t = InfectionConfig::default().nodes)]
    nodes: usize,
    /// Probability of an edge, for every ordered pair of nodes
    #[arg(long, value_name = "P", default_value_t = InfectionConfig::default().edge_probability)]
    edge_probability: f64,
    /// Infected nodes
    #[arg(long, value_name = "N", default_value_t = InfectionConfig::default().infected)]
    infected: usize,
    /// The largest distance that has a class of its own
    #[arg(long, value_name = "STEPS", default_value_t = InfectionConfig::default().max_distance)]
    max_distance: usize,
    /// Shares of each class that train, validate and test
    #[arg(long, default_value_t = InfectionConfig::default().split_ratio)]
    split_ratio: SplitRatio,
    /// Seed of everything random
    #[arg(long, default_value_t = InfectionConfig::default().seed)]
    seed: u64,
    #[command(flatten)]
    out: Out,
}

/// A set of graphs whose class is a motif, on a base that goes with the class in training only (DIR)
#[derive(Debug, clap::Args)]
pub struct SpuriousMotif {
    /// Graphs to train on
    #[arg(long, value_name = "N", default_value_t = SpuriousMotifConfig::default().train)]
    train: usize,
    /// Graphs to validate on
    #[arg(long, value_name = "N", default_value_t = SpuriousMotifConfig::default().val)]
    val: usize,
    /// Graphs to test on
    #[arg(long, value_name = "N", default_value_t = SpuriousMotifConfig::default().test)]
    test: usize,
    /// Probability that a training graph has the base of its class; the paper has 0.33, 0.5, 0.7 and 0.9
    #[arg(long, value_name = "P", default_value_t = SpuriousMotifConfig::default().bias)]
    bias: f64,
    /// Draw the bases of test graphs as small as those of training, not larger as in the paper
    #[arg(long)]
    small_test: bool,
    #[command(flatten)]
    features: FeatureChoice,
    /// Seed of everything random
    #[arg(long, default_value_t = SpuriousMotifConfig::default().seed)]
    seed: u64,
    #[command(flatten)]
    out: Out,
}

impl Motifs {
    fn config(&self) -> MotifConfig {
        MotifConfig {
            motifs: self.motifs,
            noise: self.noise,
            degrees: !self.features.paper_features,
            split_ratio: self.split_ratio,
            seed: self.seed,
        }
    }
}

impl Shapes {
    fn config(&self) -> BaShapesConfig {
        BaShapesConfig {
            base_nodes: self.base_nodes,
            edges_per_node: self.edges_per_node,
            motifs: self.motifs.config(),
        }
    }
}

impl Tree {
    fn config(&self) -> TreeConfig {
        TreeConfig { height: self.height, motifs: self.motifs.config() }
    }
}

impl Infection {
    fn config(&self) -> InfectionConfig {
        InfectionConfig {
            nodes: self.nodes,
            edge_probability: self.edge_probability,
            infected: self.infected,
            max_distance: self.max_distance,
            split_ratio: self.split_ratio,
            seed: self.seed,
        }
    }
}

impl SpuriousMotif {
    fn config(&self) -> SpuriousMotifConfig {
        SpuriousMotifConfig {
            train: self.train,
            val: self.val,
            test: self.test,
            bias: self.bias,
            large_test: !self.small_test,
            degrees: !self.features.paper_features,
            seed: self.seed,
        }
    }
}
