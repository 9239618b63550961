//! Flags, names and paths that mean nothing.

use super::{Case, case, nothing, put, put_all};
use crate::support::samples;

/// Writes `settings.toml` with one wrong setting, on its second line.
macro_rules! setting {
    ($what:literal, $line:literal) => {
        case($what, "train --config settings.toml", |dir| {
            put(dir, "settings.toml", concat!("data = \"cora\"\n", $line, "\n"));
        })
    };
}

/// The regulariser's settings, as flags and in a settings file.
pub fn car_cases() -> Vec<Case> {
    vec![
        case("`--lambda` below 0", "train --data cora --lambda -1", nothing),
        case("`--lambda NaN`", "train --data cora --lambda NaN", nothing),
        case("`--lambda` beyond reason", "train --data cora --lambda 1e300", nothing),
        case("`--lambda` that is not a number", "train --data cora --lambda strong", nothing),
        case("`--lambda` for another number of layers", "train --data cora --layers 3 --lambda 0.5,1", nothing),
        case("One of the lambdas below 0", "train --data cora --lambda 1,-1", nothing),
        case("`--rounds 0`", "train --data cora --lambda 1 --rounds 0", nothing),
        case("`--rounds` below 0", "train --data cora --lambda 1 --rounds -2", nothing),
        case("`--rounds` that is another word", "train --data cora --lambda 1 --rounds every", nothing),
        case("Unknown regulariser", "train --data cora --lambda 1 --regulariser causel", nothing),
        case("Unknown way to intervene", "train --data cora --lambda 1 --interventions approximate", nothing),
        case("Unknown exponent", "train --data cora --lambda 1 --exponent two", nothing),
        case("Unknown choice of entities", "train --data cora --lambda 1 --entities test", nothing),
        case("Unknown target", "train --data cora --lambda 1 --target mse", nothing),
        case("`--temperature 0`", "train --data cora --lambda 1 --temperature 0", nothing),
        case("`--temperature` below 0", "train --data cora --lambda 1 --temperature -0.1", nothing),
        case("`--loss-floor` below 0", "train --data cora --lambda 1 --loss-floor -0.01", nothing),
        case("`--loss-floor NaN`", "train --data cora --lambda 1 --loss-floor NaN", nothing),
        case("`--clamp 0`", "train --data cora --lambda 1 --target distribution --clamp 0", nothing),
        case("`--clamp` beyond reason", "train --data cora --lambda 1 --target distribution --clamp 1000", nothing),
        case("`--teacher 1`", "train --data cora --lambda 1 --entities all --teacher 1", nothing),
        case("`--teacher` below 0", "train --data cora --lambda 1 --entities all --teacher -0.5", nothing),
        case("`--confidence 1`", "train --data cora --lambda 1 --entities all --confidence 1", nothing),
        case("`--memory 1`", "train --data cora --lambda 1 --memory 1", nothing),
        case("One fold", "train --data cora --lambda 1 --cross-fit 1", nothing),
        case("Relative effects of drawn edges", "train --data cora --lambda 1 --effect relative", nothing),
        case("No share for the regulariser", "train --data cora --lambda auto --gradient-share 0", nothing),
        case("A lambda of another word", "train --data cora --lambda automatic", nothing),
        case("`--warm-up` that is not a number", "train --data cora --lambda 1 --entities all --warm-up long", nothing),
        case("`--drop-rate 1`", "train --data cora --lambda 1 --regulariser drop-edge --drop-rate 1", nothing),
        case("The same of messages", "train --data cora --lambda 1 --regulariser drop-message --drop-rate 1", nothing),
        case("Noise whose strength is to be found", "train --data cora --lambda auto --regulariser drop-edge", nothing),
        case(
            "`--edge-sample 0`",
            "train --data cora --lambda 1 --regulariser edge-prediction --edge-sample 0",
            nothing,
        ),
        case(
            "`--negative-ratio 0`",
            "train --data cora --lambda 1 --regulariser edge-prediction --negative-ratio 0",
            nothing,
        ),
        case(
            "A regulariser of attention without attention",
            "train --data cora --model gcn --regulariser drop-edge --lambda 1",
            nothing,
        ),
        case("The same where steps are timed", "bench step --data cora --lambda -1", nothing),
        setting!("In a file: a lambda that is a word", "lambda = \"x\""),
        setting!("In a file: a lambda below 0", "lambda = -1"),
        setting!("In a file: lambdas that are not numbers", "lambda = [1, \"x\"]"),
        setting!("In a file: no lambda at all", "lambda = []"),
        setting!("In a file: lambdas for another number of layers", "lambda = [1, 2, 3]"),
        setting!("In a file: 0 rounds", "rounds = 0"),
        setting!("In a file: half a round", "rounds = 0.5"),
        setting!("In a file: rounds that are another word", "rounds = \"every\""),
        setting!("In a file: an unknown regulariser", "regulariser = \"causel\""),
        setting!("In a file: an unknown way to intervene", "interventions = 1"),
        setting!("In a file: an unknown exponent", "exponent = \"two\""),
        setting!("In a file: an unknown choice of entities", "entities = \"test\""),
        setting!("In a file: an unknown target", "target = \"mse\""),
        setting!("In a file: a temperature that is a word", "temperature = \"hot\""),
        setting!("In a file: a temperature of infinity", "temperature = inf"),
        setting!("In a file: a floor that is a word", "loss-floor = \"low\""),
        setting!("In a file: a clamp of 0", "clamp = 0"),
        setting!("In a file: a teacher that keeps everything", "teacher = 1"),
        setting!("In a file: a warm-up below 0", "warm-up = -1"),
        setting!("In a file: the American spelling", "regularizer = \"causal\""),
    ]
}

pub fn cases() -> Vec<Case> {
    vec![
        case("Unknown command", "trian --data cora", nothing),
        case("Unknown subcommand", "data lst", nothing),
        case("Unknown flag", "data list --jsn", nothing),
        case("Required argument left out", "data info", nothing),
        case("A word where a number belongs", "data generate planted --nodes many --out x.npz", nothing),
        case("Unknown dataset, near a known one", "data info coar", nothing),
        case("Unknown dataset, near no other", "data info zzzzzz", nothing),
        case("Unknown dataset among several", "data get cora citseer", nothing),
        case("A dataset that is not there yet", "data info cora", nothing),
        case("A path that does not exist", "data info my/graph.npz", nothing),
        case("A family where one graph is needed", "data convert syn-cora out.npz", nothing),
        case("A file of another kind", "data info notes.txt", |dir| put(dir, "notes.txt", "hello")),
        case("A folder without a dataset", "data info empty", |dir| put(dir, "empty/notes.txt", "hello")),
        case("`--format` with a `.npz` file", "data convert graph.npz out.npz --format csv", |dir| {
            put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
        }),
        case("A dataset as a single table", "data convert graph.npz out.csv", |dir| {
            put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
        }),
        case("A set of graphs as a folder of tables", "data convert set out", |dir| {
            put_all(&dir.join("set"), samples::tudataset())
        }),
        case("Too few nodes to generate", "data generate planted --nodes 1 --out x.npz", nothing),
        case("A base smaller than what a node links to", "data generate ba-shapes --base-nodes 5 --out x.npz", nothing),
        case("Generated graphs as a folder", "data generate spurious-motif --out motifs", nothing),
        case("A share above 1", "data generate planted --homophily 1.5 --out x.npz", nothing),
        case("Bad `--split-ratio`", "data generate planted --split-ratio 0.9,0.9,0.9 --out x.npz", nothing),
        case("A demo of no runs", "demo --seeds 0", nothing),
        case("A demo of too few nodes", "demo --nodes 1", nothing),
        case("A page in a folder that does not exist", "demo --out no/such/page.html", nothing),
        case("No settings to train with", "train", nothing),
        case("`--heads 0`", "train --data cora --heads 0", nothing),
        case("`--threads 0`", "train --data cora --threads 0", nothing),
        case("`--lr NaN`", "train --data cora --lr NaN", nothing),
        case("Unknown attention", "train --data cora --arch gcn", nothing),
        case("Heads that CAL cannot concatenate", "train --data cora --model cal --heads 3", nothing),
        case("A strength of CAL below 0", "train --data cora --model cal --lambda1 -0.5", nothing),
        case("CAL's strength without CAL", "train --data cora --lambda2 0.5", nothing),
        case("CAR's strength with CAL", "train --data cora --model cal --lambda 1", nothing),
        case("Unknown protocol", "train --data cora --protocol worst", nothing),
        case("A weight decay below 0", "train --data cora --weight-decay -0.1", nothing),
        case("Unknown optimiser", "train --data cora --optimiser sgd", nothing),
        case("Unknown schedule", "train --data cora --schedule linear", nothing),
        case("Unknown class weights", "train --data cora --class-weights rare", nothing),
        case("Class weights with CAL", "train --data cora --model cal --class-weights balanced", nothing),
        case("Unknown figure to select by", "train --data cora --select recall", nothing),
        case("Unknown start of patience", "train --data cora --patience-from later", nothing),
        case("Unknown preset", "train --data cora --preset best", nothing),
        case("A preset with CAL", "train --data cora --model cal --preset gat", nothing),
        case("No tuned settings for the data", "train --data graph.npz --preset tuned", |dir| {
            put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
        }),
        case("Fan-out of the wrong length", "train --data cora --layers 2 --fanout 10", nothing),
        case("Fan-out 0", "train --data cora --layers 2 --fanout 10,0", nothing),
        case("`--batch-size 0`", "train --data cora --batch-size 0", nothing),
        case("`--epochs 0`", "train --data cora --epochs 0", nothing),
        case("Shares that are not numbers", "train --data cora --split-ratio half,half", nothing),
        case("`--resume` without a folder", "train --data cora --resume", nothing),
        case("A network larger than any memory", "train --data graph.npz --hidden 60000 --heads 1000", |dir| {
            put(dir, "graph.npz", samples::npz(&samples::own_arrays()));
        }),
        case("Control characters in the input", "data info graph", |dir| {
            put(dir, "graph/nodes.csv", "id,label,f0\na,0,\u{1b}[2J\nb,0,1\n");
            put(dir, "graph/edges.csv", "src,dst\n");
        }),
        case("A time that is none", "bench step --data cora --seconds NaN", nothing),
        case("Settings file that is not there", "train --config settings.toml", nothing),
        case("Settings file with an unknown name", "train --config settings.toml", |dir| {
            put(dir, "settings.toml", "data = \"cora\"\nhiden = 100\n");
        }),
        case("Settings file with a value of another kind", "train --config settings.toml", |dir| {
            put(dir, "settings.toml", "data = \"cora\"\nhidden = \"wide\"\n");
        }),
        case("Settings file that is no TOML", "train --config settings.toml", |dir| {
            put(dir, "settings.toml", "data = \"cora\"\nhidden =\n");
        }),
        case("A settings file that is not text", "train --config settings.toml", |dir| {
            put(dir, "settings.toml", b"data = \"\xff\xfe\"\n");
        }),
    ]
}
