//! A network on your own graph: which accounts of a bank are fraudulent, and which payments show it?
//!
//! ```sh
//! cargo run --release -p carat --example own_graph
//! ```

use std::ops::ControlFlow;

use carat::{Dataset, Error, Lambda, TrainConfig, Trainer, attention_to, effects, score};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Trains with causal attention regularisation, tests, and prints for some accounts which payers the network attends to
/// and which ones the prediction depends on.
pub fn main() -> Result<(), Error> {
    let bank = bank();
    let dataset = Dataset::from_rows("bank", &bank.payments, &bank.accounts, &bank.fraud)?;
    let config = TrainConfig::default().lambda(Lambda::new(1.0)).layers(1).hidden(16);
    let split = config.choose_split(&dataset)?;
    let (network, validation) = Trainer::new(&dataset, &split, &config)?.run()?;
    let test = score(&network, &dataset, &split.test)?;
    println!("validation: {validation}\ntest:       {test}");

    for &account in split.test.iter().filter(|&&n| bank.fraud[n as usize] == Some(1)).take(2) {
        println!(
            "account {account} is fraudulent; attention to those who paid it, and what each payment does to the loss:"
        );
        let effects =
            effects(&network, &dataset, &[account], &(&config).into(), &mut |_, _| ControlFlow::Continue(()))?;
        for ((payer, attention), rho) in attention_to(&network, &dataset, account)?.into_iter().zip(effects.rho) {
            println!(
                "    {attention:.3}, {rho:.2} times without it: account {payer} ({:?})",
                bank.kinds[payer as usize]
            );
        }
    }
    assert!(test.accuracy > 0.8, "payers give fraud away");
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Shop,
    Hacked,
    Private,
}

/// The data of a bank; it stands for your own tables.
struct Bank {
    /// From one account to another.
    payments: Vec<(u32, u32)>,
    /// Per account: how large its transfers are, how many it makes at night, how old it is.
    accounts: Vec<[f32; 3]>,
    /// Per private account: 1 if it was found to be fraudulent; unknown for other accounts.
    fraud: Vec<Option<u32>>,
    /// Not given to the network.
    kinds: Vec<Kind>,
}

/// Every account is paid by friends and gets refunds from shops. Accounts that are also paid by hacked ones are
/// fraudulent.
fn bank() -> Bank {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let kind = |n: u32| [Kind::Shop, Kind::Hacked, Kind::Private][(n % 12).min(2) as usize];
    let kinds: Vec<Kind> = (0..600).map(kind).collect();
    let mut bank = Bank { payments: Vec::new(), accounts: Vec::new(), fraud: Vec::new(), kinds };
    for account in 0..600 {
        let is_fraud = kind(account) == Kind::Private && rng.random_bool(0.4);
        bank.fraud.push((kind(account) == Kind::Private).then_some(u32::from(is_fraud)));
        let (size, night, age) = match kind(account) {
            Kind::Shop => (0.2, 0.1, 0.9),
            Kind::Hacked => (0.8, 0.8, 0.5),
            Kind::Private => (0.4, 0.3, 0.5),
        };
        bank.accounts.push([size, night, age].map(|mean: f32| mean + rng.random_range(-0.4..0.4)));
        for (payers, count) in [(Kind::Private, 3), (Kind::Shop, 1), (Kind::Hacked, if is_fraud { 2 } else { 0 })] {
            let mut drawn = std::iter::repeat_with(|| rng.random_range(0..600)).filter(|&payer| kind(payer) == payers);
            bank.payments.extend(drawn.by_ref().take(count).map(|payer| (payer, account)));
        }
    }
    bank
}
