//! A user's own export from training to predictions: text, dates, gaps, amounts of any size, few positives; and the
//! data of a later week, without labels and with its columns in another order.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::{assert_fails, assert_survives_kills, carat, json, model, stdout};

/// Draws numbers from 0 up to 1.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }
}

struct Account {
    id: String,
    is_fraud: bool,
    /// amount, country, opened, verified, note
    cells: [String; 5],
}

/// Accounts of which one in fifty is a fraud: mostly with large amounts, from two countries, opened lately, and paying
/// each other.
fn accounts(count: usize, week: u64) -> (Vec<Account>, Vec<(usize, usize)>) {
    let mut draw = Draws(week + 1);
    let mut accounts = Vec::new();
    for k in 0..count {
        let is_fraud = k % 50 == 7;
        let size = if is_fraud { 3.8 + 2.2 * draw.next() } else { 1.0 + 3.6 * draw.next() };
        let countries = if is_fraud { ["RU", "KY", "DE", "RU"] } else { ["DE", "FR", "IT", "KY"] };
        let month = if is_fraud { 10 + draw.below(3) } else { 1 + draw.below(12) };
        let mut cells = [
            format!("{:.2}", 10f64.powf(size)),
            countries[draw.below(4)].to_string(),
            format!("2024-{month:02}-{:02}", 1 + draw.below(28)),
            if draw.next() < if is_fraud { 0.2 } else { 0.8 } { "yes" } else { "no" }.to_string(),
            format!("order {} of shop {}", draw.below(500), draw.below(40)),
        ];
        // Every column but the last has gaps.
        cells[..4].iter_mut().filter(|_| draw.next() < 0.05).for_each(String::clear);
        accounts.push(Account { id: format!("A-{week}-{k}"), is_fraud, cells });
    }
    let frauds: Vec<usize> = (0..count).filter(|&k| accounts[k].is_fraud).collect();
    let mut payments = Vec::new();
    for (k, account) in accounts.iter().enumerate() {
        // A network sees what its edges bring: an account's own columns come by an edge to itself.
        payments.push((k, k));
        for _ in 0..3 {
            let other = if account.is_fraud && draw.next() < 0.5 {
                frauds[draw.below(frauds.len())]
            } else {
                draw.below(count)
            };
            payments.push((k, other));
        }
    }
    (accounts, payments)
}

/// Writes a folder of tables. `columns` names its columns in their order; `name` and `label` may be among them.
fn export(folder: &Path, columns: &str, accounts: &[Account], payments: &[(usize, usize)]) {
    std::fs::create_dir(folder).unwrap();
    let mut nodes = format!("{columns}\n");
    for Account { id, is_fraud, cells } in accounts {
        let cell = |column: &str| match column {
            "id" => id.clone(),
            "label" => if *is_fraud { "fraud" } else { "ok" }.to_string(),
            "name" => "the same, \"for all\"".to_string(),
            column => {
                let at = ["amount", "country", "opened", "verified", "note"].iter().position(|own| *own == column);
                cells[at.unwrap()].clone()
            }
        };
        let row: Vec<String> = columns.split(',').map(|c| format!("\"{}\"", cell(c).replace('"', "\"\""))).collect();
        writeln!(nodes, "{}", row.join(",")).unwrap();
    }
    let mut edges = "src,dst\n".to_string();
    payments.iter().for_each(|(a, b)| writeln!(edges, "{},{}", accounts[*a].id, accounts[*b].id).unwrap());
    std::fs::write(folder.join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.join("edges.csv"), edges).unwrap();
}

const COLUMNS: &str = "id,label,amount,country,opened,verified,note";

/// A CSV file with quoted cells as rows by column name.
fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| header.iter().map(String::from).zip(row.iter().map(String::from)).collect();
    reader.records().map(|found| row(found.unwrap())).collect()
}

/// The probability that a positive has a higher score than a negative.
fn auc(scores: &[(f64, bool)]) -> f64 {
    let (mut wins, mut pairs) = (0.0, 0.0);
    for (score, _) in scores.iter().filter(|(_, positive)| *positive) {
        for (other, _) in scores.iter().filter(|(_, positive)| !positive) {
            pairs += 1.0;
            wins += if score > other {
                1.0
            } else if score == other {
                0.5
            } else {
                0.0
            };
        }
    }
    wins / pairs
}

/// AUC of the predicted probability of fraud over the rows that `choose` takes, joined with the accounts by id.
fn fraud_auc(predictions: &[HashMap<String, String>], accounts: &[Account], choose: impl Fn(&str) -> bool) -> f64 {
    let truth: HashMap<&str, bool> = accounts.iter().map(|account| (account.id.as_str(), account.is_fraud)).collect();
    let chosen = predictions.iter().filter(|row| choose(row.get("split").map_or("", String::as_str)));
    let scores: Vec<(f64, bool)> =
        chosen.map(|row| (row["p_fraud"].parse().unwrap(), truth[row["id"].as_str()])).collect();
    auc(&scores)
}

struct Shop {
    folder: tempfile::TempDir,
}

impl Shop {
    /// A folder with this week's export and a run trained on it.
    fn trained(count: usize, flags: &[&str]) -> (Self, Vec<Account>) {
        let shop = Self { folder: tempfile::tempdir().unwrap() };
        let (accounts, payments) = accounts(count, 0);
        export(&shop.path("week0"), COLUMNS, &accounts, &payments);
        let mut train = vec!["train", "--data"];
        let (data, run) = (shop.at("week0"), shop.at("run"));
        train.extend([data.as_str(), "--out", run.as_str(), "--hidden", "16", "--heads", "1", "--layers", "1"]);
        train.extend(flags);
        // Of the two classes the rare one is measured, whatever their order by name.
        let printed = stdout(shop.folder.path(), &train);
        assert!(printed.contains("\nclass fraud ("), "{printed}");
        (shop, accounts)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A table that a command about the run writes, and what it says on stderr.
    fn table(&self, command: &str, data: Option<&str>) -> (Vec<HashMap<String, String>>, String) {
        let (run, out) = (self.at("run"), self.at("out.csv"));
        let mut args = vec![command, "--run", &run, "--out", &out];
        let data = data.map(|data| self.at(data));
        args.extend(data.iter().flat_map(|data| ["--data", data]));
        let output = carat(self.folder.path(), &args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{command}: {said}");
        (table(&self.path("out.csv")), said)
    }
}

#[test]
fn payments_are_learnt_from_an_export_and_next_week_is_predicted() {
    let (shop, this_week) = Shop::trained(2_000, &["--epochs", "60", "--lr", "0.02"]);
    let config = std::fs::read_to_string(shop.path("run/config.toml")).unwrap();
    assert!(config.contains("normalise = \"auto\""), "{config}");
    let encoding = std::fs::read_to_string(shop.path("run/encoding.toml")).unwrap();
    assert!(encoding.contains("normalise = \"standard\""), "{encoding}");
    let (predictions, said) = shop.table("predict", None);
    assert_eq!((predictions.len(), said.as_str()), (2_000, ""));
    // Forty frauds, of which eight are in the test part: the validation part makes the figure steadier.
    let held_out = fraud_auc(&predictions, &this_week, |split| split != "train");
    assert!(held_out > 0.92, "{held_out}");

    let (next_week, payments) = accounts(2_000, 1);
    export(&shop.path("week1"), "note,verified,country,id,opened,amount", &next_week, &payments);
    let (predictions, _) = shop.table("predict", Some("week1"));
    assert!(
        predictions.iter().all(|row| row["label"].is_empty() && ["ok", "fraud"].contains(&row["predicted"].as_str()))
    );
    assert!(predictions.iter().all(|row| !row.contains_key("split")), "nothing is known of other data's split");
    let ids: Vec<&str> = predictions.iter().map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, next_week.iter().map(|account| account.id.as_str()).collect::<Vec<_>>());
    let next = fraud_auc(&predictions, &next_week, |_| true);
    assert!(next > 0.97, "{next}");

    // The same rows in the order of training, with labels: nothing but the labels differs.
    export(&shop.path("ordered"), COLUMNS, &next_week, &payments);
    let (ordered, _) = shop.table("predict", Some("ordered"));
    for (one, other) in ordered.iter().zip(&predictions) {
        assert_eq!((&one["p_fraud"], &one["predicted"]), (&other["p_fraud"], &other["predicted"]));
        assert_eq!(one["label"].is_empty(), one["loss"].is_empty());
    }
}

#[test]
fn without_scaling_large_amounts_drown_what_else_is_known() {
    let (shop, accounts) = Shop::trained(1_000, &["--epochs", "5", "--normalise", "none"]);
    let config = std::fs::read_to_string(shop.path("run/config.toml")).unwrap();
    assert!(!config.contains("normalise"), "{config}");
    let (predictions, _) = shop.table("predict", None);
    assert_eq!(predictions.len(), accounts.len());
}

#[test]
fn every_output_has_the_user_s_ids_classes_and_splits() {
    let (shop, accounts) = Shop::trained(300, &["--epochs", "2"]);
    let is_id = |id: &str| accounts.iter().any(|account| account.id == id);
    let (predictions, _) = shop.table("predict", None);
    let parts = ["train", "val", "test"].map(|part| predictions.iter().filter(|row| row["split"] == part).count());
    assert_eq!(parts.iter().sum::<usize>(), 300);
    assert!(parts[0] > parts[1] && parts[2] > 0, "{parts:?}");
    assert!(predictions.iter().all(|row| row["label"] == "ok" || row["label"] == "fraud"));
    for command in ["attention", "effects"] {
        let (rows, _) = shop.table(command, None);
        for row in &rows {
            assert!(is_id(&row["src_id"]) && is_id(&row["dst_id"]), "{row:?}");
            let node: usize = row["dst"].parse().unwrap();
            assert_eq!((&row["dst_id"], &row["dst_split"]), (&predictions[node]["id"], &predictions[node]["split"]));
        }
    }
    let (run, out) = (shop.at("run"), shop.at("explained"));
    stdout(shop.folder.path(), &["explain", "--base", &run, "--car", &run, "--no-effects", "--out", &out]);
    assert!(table(&shop.path("explained/edges.csv")).iter().all(|row| is_id(&row["src_id"]) && is_id(&row["dst_id"])));
    let nodes = table(&shop.path("explained/nodes.csv"));
    assert!(nodes.iter().zip(&accounts).all(|(row, account)| row["id"] == account.id && !row["class"].is_empty()));
    let page = shop.at("page.html");
    stdout(shop.folder.path(), &["explore", &run, "--node", &accounts[3].id, "--export", &page]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&accounts[3].id) && page.contains("fraud"));
}

#[test]
fn ids_stay_where_nodes_have_names() {
    let (shop, accounts) = Shop::trained(200, &["--epochs", "1"]);
    let (_, payments) = self::accounts(200, 0);
    export(&shop.path("named"), &format!("name,{COLUMNS}"), &accounts, &payments);
    let (predictions, _) = shop.table("predict", Some("named"));
    for (row, account) in predictions.iter().zip(&accounts) {
        assert_eq!((&row["id"], row["name"].as_str()), (&account.id, "the same, \"for all\""));
    }
    let converted = shop.at("named.npz");
    stdout(shop.folder.path(), &["data", "convert", &shop.at("named"), &converted]);
    let back = shop.at("back");
    stdout(shop.folder.path(), &["data", "convert", &converted, &back]);
    let rows = table(&shop.path("back/nodes.csv"));
    assert!(rows.iter().zip(&accounts).all(|(row, account)| row["id"] == account.id && row["name"].contains("same")));
    // An account is found by its id where names do not tell it from others.
    let page = shop.at("page.html");
    let (run, data) = (shop.at("run"), shop.at("named"));
    let id = accounts[5].id.as_str();
    stdout(shop.folder.path(), &["explore", &run, "--data", &data, "--node", id, "--export", &page]);
}

#[test]
fn labels_of_other_data_mean_what_they_meant_in_training() {
    let (shop, _) = Shop::trained(200, &["--epochs", "2"]);
    let (accounts, payments) = accounts(60, 3);
    let fine: Vec<Account> = accounts.into_iter().map(|account| Account { is_fraud: false, ..account }).collect();
    export(&shop.path("fine"), COLUMNS, &fine, &payments);
    let (predictions, said) = shop.table("predict", Some("fine"));
    assert_eq!(said, "");
    for row in &predictions {
        let (p, loss): (f64, f64) = (row["p_ok"].parse().unwrap(), row["loss"].parse().unwrap());
        assert_eq!(row["label"], "ok");
        assert!((loss + p.ln()).abs() < 1e-3 * loss.max(0.1), "{row:?}");
    }
    let encoding = std::fs::read_to_string(shop.path("run/encoding.toml")).unwrap();
    assert!(encoding.contains("class_names = [\"fraud\", \"ok\"]"), "{encoding}");
}

#[test]
fn data_that_does_not_fit_is_refused_and_nothing_is_written() {
    let (shop, accounts) = Shop::trained(200, &["--epochs", "1"]);
    let (_, payments) = self::accounts(200, 0);
    let refused = |name: &str, columns: &str, parts: &[&str]| {
        export(&shop.path(name), columns, &accounts, &payments);
        let before = std::fs::read_dir(shop.folder.path()).unwrap().count();
        for command in ["predict", "attention", "effects"] {
            let (run, data, out) = (shop.at("run"), shop.at(name), shop.at("never.csv"));
            let output = carat(shop.folder.path(), &[command, "--run", &run, "--data", &data, "--out", &out]);
            assert_fails(&output, 2, parts);
        }
        assert_eq!(std::fs::read_dir(shop.folder.path()).unwrap().count(), before);
    };
    refused("fewer", "id,amount,country,opened,verified", &["lacks columns of the training data: 'note'"]);
    // A table without labels is no data to train on.
    export(&shop.path("unlabelled"), "id,amount,country", &accounts, &payments);
    let (data, out) = (shop.at("unlabelled"), shop.at("none"));
    let output = carat(shop.folder.path(), &["train", "--data", &data, "--out", &out]);
    assert_fails(&output, 2, &["no node of unlabelled has a label; at least the training nodes need one"]);
    assert!(!shop.path("none").exists());
    let nodes = std::fs::read_to_string(shop.path("week0/nodes.csv")).unwrap();
    std::fs::create_dir(shop.path("odd")).unwrap();
    std::fs::copy(shop.path("week0/edges.csv"), shop.path("odd/edges.csv")).unwrap();
    std::fs::write(shop.path("odd/nodes.csv"), nodes.replace("\"country\"", "\"land\"").replacen("country", "land", 1))
        .unwrap();
    let (run, data, out) = (shop.at("run"), shop.at("odd"), shop.at("never.csv"));
    let output = carat(shop.folder.path(), &["predict", "--run", &run, "--data", &data, "--out", &out]);
    assert_fails(&output, 2, &["lacks columns of the training data: 'country'", "new are 'land'"]);
    assert!(!shop.path("never.csv").exists());
}

/// One export without edges, as `data link` takes it; the last column says what is true.
fn payments(count: usize, week: u64, columns: &str) -> String {
    let mut draw = Draws(week + 7);
    let mut rows = format!("{columns}\n");
    for k in 0..count {
        let stolen = draw.below(20) == 0;
        let card = if stolen { draw.below(4) } else { 4 + draw.below(count / 5) };
        let amount = 10f64.powf(1.0 + 3.0 * draw.next());
        let label = if !columns.ends_with("fraud") {
            ""
        } else if stolen {
            ",yes"
        } else {
            ",no"
        };
        writeln!(rows, "P{week}-{k},2024-0{}-{:02},{amount:.2},card {card}{label}", 3 + week, 1 + k * 28 / count)
            .unwrap();
    }
    rows
}

#[test]
fn one_table_becomes_a_graph_that_is_learnt_and_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("now.csv"), payments(400, 0, "payment,time,amount,card,fraud")).unwrap();
    std::fs::write(at("next.csv"), payments(100, 1, "payment,time,amount,card")).unwrap();
    let roles = ["--by", "card", "--id", "payment", "--label", "fraud", "--order", "time"];
    let link = |tables: &[&str], out: &str| {
        let tables: Vec<String> = tables.iter().map(|table| at(table)).collect();
        let tables = tables.iter().map(String::as_str);
        let args: Vec<&str> = ["data", "link"].into_iter().chain(tables).chain(roles).collect();
        json(folder.path(), &[&args[..], &["--out", &at(out)]].concat())
    };
    let linked = link(&["now.csv"], "week0");
    assert_eq!((&linked["nodes"], &linked["by"][0]["column"]), (&400.into(), &"card".into()));
    assert_eq!(linked["edges"].as_u64().unwrap(), 2 * linked["by"][0]["pairs"].as_u64().unwrap());
    let (run, week0, week1, out) = (at("run"), at("week0"), at("week1"), at("p.csv"));
    let sizes = ["--hidden", "8", "--layers", "1", "--epochs", "5", "--preset", "strong"];
    stdout(folder.path(), &[&["train", "--data", &week0, "--out", &run], &sizes[..]].concat());
    assert_eq!(link(&["now.csv", "next.csv"], "week1")["nodes"], 500);
    stdout(folder.path(), &["predict", "--run", &run, "--data", &week1, "--out", &out]);
    let rows = table(Path::new(&out));
    let next: Vec<_> = rows.iter().filter(|row| row["id"].starts_with("P1-")).collect();
    assert_eq!((rows.len(), next.len()), (500, 100));
    assert!(next.iter().all(|row| row["label"].is_empty() && !row["p_yes"].is_empty()));

    let never = at("never");
    let refused = |args: &[&str], part: &str| {
        let args = [&["data", "link"], args, &["--out", &never]].concat();
        assert_fails(&carat(folder.path(), &args), 2, &[part]);
        assert!(!Path::new(&never).exists());
    };
    let now = at("now.csv");
    refused(&[&now, "--by", "device"], "there is no column 'device'");
    refused(&[&now, "--by", "fraud", "--label", "fraud"], "it is the label");
    refused(&[&now, "--by", "payment"], "no two rows have the same payment");
    refused(&[&at("none.csv"), "--by", "card"], "none.csv");
}

#[test]
fn a_run_from_before_encodings_reads_features_by_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (data, run) = (at("graph.npz"), at("run"));
    stdout(folder.path(), &["data", "generate", "planted", "--nodes", "200", "--out", &data]);
    stdout(folder.path(), &["train", "--data", &data, "--hidden", "4", "--epochs", "2", "--out", &run]);
    stdout(folder.path(), &["predict", "--run", &run, "--out", &at("with.csv")]);
    std::fs::remove_file(folder.path().join("run/encoding.toml")).unwrap();
    stdout(folder.path(), &["predict", "--run", &run, "--out", &at("without.csv")]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("with.csv"), read("without.csv"));
    stdout(folder.path(), &["train", "--out", &run, "--resume"]);
}

#[test]
fn a_killed_run_on_tables_ends_with_the_bits_of_a_calm_one() {
    let folder = tempfile::tempdir().unwrap();
    let (accounts, payments) = accounts(400, 0);
    export(&folder.path().join("week0"), COLUMNS, &accounts, &payments);
    let data = folder.path().join("week0").display().to_string();
    let flags = ["--data", &data, "--hidden", "8", "--epochs", "300", "--patience", "300", "--seed", "3"];
    assert_survives_kills(folder.path(), &flags);
    let read = |run: &str| std::fs::read_to_string(folder.path().join(run).join("encoding.toml")).unwrap();
    assert_eq!(read("calm"), read("hunted"));
}

#[test]
fn a_grid_varies_the_scale_and_mapped_files_are_scaled_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (accounts, payments) = accounts(200, 0);
    export(&folder.path().join("week0"), COLUMNS, &accounts, &payments);
    let (data, store) = (at("week0"), at("runs.db"));
    std::fs::write(
        at("grid.toml"),
        format!("data = '{data}'\nhidden = 4\nepochs = 2\nnormalise = ['none', 'row', 'standard']\n"),
    )
    .unwrap();
    let sweep = ["sweep", "--grid", &at("grid.toml"), "--store", &store].map(String::from);
    let sweep: Vec<&str> = sweep.iter().map(String::as_str).collect();
    let tally = json(folder.path(), &sweep);
    assert_eq!((tally["computed"].as_u64(), tally["failed"].as_u64()), (Some(3), Some(0)), "{tally}");
    // The mapped file and the archive hold the same numbers.
    let mut models = Vec::new();
    stdout(folder.path(), &["data", "convert", &data, &at("week0.npz")]);
    stdout(folder.path(), &["data", "convert", &at("week0.npz"), &at("week0.carat")]);
    for name in ["week0.npz", "week0.carat"] {
        let run = at(&format!("{name}-run"));
        let flags =
            ["train", "--data", &at(name), "--hidden", "4", "--epochs", "3", "--normalise", "standard", "--out", &run];
        stdout(folder.path(), &flags);
        models.push(model(Path::new(&run)));
    }
    assert_eq!(models[0], models[1]);
}

#[test]
fn info_says_what_becomes_of_columns_and_how_rare_classes_are() {
    let folder = tempfile::tempdir().unwrap();
    let (accounts, mut payments) = accounts(200, 0);
    payments.extend([(1, 1), (0, 5), (0, 5)]);
    export(&folder.path().join("week0"), COLUMNS, &accounts, &payments);
    let data = folder.path().join("week0").display().to_string();
    let info = json(folder.path(), &["data", "info", &data]);
    let column = |name: &str| {
        let columns = info["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap_or_else(|| panic!("{name} in {info}")).clone()
    };
    let kinds = ["amount", "country", "opened", "verified", "note"].map(|name| column(name)["kind"].to_string());
    assert_eq!(kinds, ["\"number\"", "\"text\"", "\"date\"", "\"boolean\"", "\"text\""]);
    assert!(column("amount")["missing"].as_u64().unwrap() > 0);
    assert!(column("note")["becomes"].as_str().unwrap().contains("words hashed into 64 features"));
    assert_eq!(info["class_sizes"][0]["class"], "fraud");
    assert_eq!(info["class_sizes"][0]["labelled"], 4);
    assert!(info["merged_edges"].as_u64().unwrap() >= 1 && info["self_loops"].as_u64().unwrap() >= 1);
    let text = stdout(folder.path(), &["data", "info", &data]);
    for part in ["fraud 4 (2.0 %)", "repeated edges", "number, minus ", "gaps flagged", "what training makes of it"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
