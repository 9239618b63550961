//! Datasets with some of their edges.

use crate::support::any_dataset::{any_dataset, assert_same_parts};
use proptest::prelude::*;

proptest! {
    #[test]
    fn chosen_edges_stay_in_order_with_what_is_known_of_them(dataset in any_dataset(), seed in any::<u64>()) {
        let edges: Vec<(u32, u32)> = dataset.graph().edges().collect();
        let keep: Vec<bool> = (0..edges.len()).map(|e| seed.rotate_left(e as u32 * 7) & 1 == 1).collect();
        let fewer = dataset.with_edges(&keep).unwrap();

        let ids: Vec<usize> = (0..edges.len()).filter(|&e| keep[e]).collect();
        let expected: Vec<(u32, u32)> = ids.iter().map(|&e| edges[e]).collect();
        prop_assert_eq!(fewer.graph().edges().collect::<Vec<_>>(), expected);
        let flags = dataset.spurious().map(|flags| ids.iter().map(|&e| flags[e]).collect::<Vec<bool>>());
        prop_assert_eq!(fewer.spurious().map(|flags| flags.iter().collect::<Vec<bool>>()), flags);

        let rows = |dataset: &carat_graph::Dataset, edges: &[usize]| {
            dataset.edge_features().map(|features| edges.iter().map(|&e| features.row(e).to_vec()).collect::<Vec<_>>())
        };
        prop_assert_eq!(rows(&fewer, &(0..ids.len()).collect::<Vec<_>>()), rows(&dataset, &ids));

        prop_assert_eq!(fewer.num_nodes(), dataset.num_nodes());
        prop_assert_eq!(fewer.features().to_dense(), dataset.features().to_dense());
        prop_assert_eq!(fewer.labels(), dataset.labels());
        prop_assert_eq!(fewer.splits(), dataset.splits());
        prop_assert_eq!(fewer.node_names(), dataset.node_names());
        prop_assert_eq!(fewer.class_names(), dataset.class_names());
        prop_assert_eq!(fewer.node_years(), dataset.node_years());
        prop_assert_eq!(fewer.name(), dataset.name());
        prop_assert_eq!(fewer.into_parts().graph_offsets, dataset.into_parts().graph_offsets);
    }

    #[test]
    fn all_edges_are_the_same_data(dataset in any_dataset()) {
        let whole = dataset.with_edges(&vec![true; dataset.graph().num_edges()]).unwrap();
        assert_same_parts(&whole, &dataset);
    }

    #[test]
    fn another_number_of_choices_is_an_error(dataset in any_dataset()) {
        let keep = vec![true; dataset.graph().num_edges() + 1];
        prop_assert!(dataset.with_edges(&keep).is_err());
    }
}
