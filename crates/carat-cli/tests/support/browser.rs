//! A headless Chromium, spoken to over pipes in its DevTools protocol: JSON messages, each ended by a NUL byte.
//!
//! Every wait ends at the browser's time limit, and dropping it ends the browser and all its processes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a browser may take for all that a test asks of it. A first start on a busy machine takes seconds.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Where `CARAT_BROWSER` names none.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 11] = [
    "--headless",
    // Tests in containers run as root, which the sandbox refuses; the pages are our own.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-pipe",
];

/// How a page is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
}

impl View {
    pub const DESKTOP: Self = Self { width: 1280, height: 900, dark: false };
    pub const PHONE: Self = Self { width: 390, height: 844, dark: false };

    pub fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// Phones obey the page's viewport line and shrink what is too wide.
    fn is_phone(self) -> bool {
        self.width < 600
    }
}

/// A running browser with one page.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    /// Profile and log.
    folder: TempDir,
    deadline: Instant,
    last_id: u64,
    session: Option<String>,
    loaded: bool,
    problems: Vec<String>,
}

impl Browser {
    /// Starts the browser that `CARAT_BROWSER` names, or one of the usual names. Where there is none, says that the
    /// test is skipped, or fails where `CARAT_REQUIRE_BROWSER` is set.
    pub fn start() -> Option<Self> {
        let named = std::env::var_os("CARAT_BROWSER").filter(|name| !name.is_empty());
        let names = named.map_or_else(|| NAMES.map(OsString::from).to_vec(), |name| vec![name]);
        let Some(program) = names.iter().find(|name| is_there(name)) else {
            assert!(std::env::var_os("CARAT_REQUIRE_BROWSER").is_none(), "no browser: none of {names:?} is there");
            eprintln!("skipped: none of {names:?} is there");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        // The protocol's pipes are the browser's files 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("log")).unwrap())
            .process_group(0)
            .spawn()
            .unwrap();
        let requests = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        // Ends with the browser, whose end closes the pipe.
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while matches!(answers.read_until(0, &mut message), Ok(1..)) {
                let parsed = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message));
                if parsed.is_err() || sender.send(parsed.unwrap_or_default()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let deadline = Instant::now() + TIME_LIMIT;
        let (last_id, session, loaded, problems) = (0, None, false, Vec::new());
        Some(Self { child, requests, messages, folder, deadline, last_id, session, loaded, problems })
    }

    /// Opens a file in a fresh page and waits until it is loaded and drawn.
    pub fn open(&mut self, file: &Path, view: View) {
        self.visit(&address(file), view);
    }

    /// The same for an address.
    pub fn visit(&mut self, address: &str, view: View) {
        self.session = None;
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = self.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        self.session = session["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        let View { width, height, dark } = view;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": view.is_phone() });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", media);

        (self.loaded, self.problems) = (false, Vec::new());
        let answer = self.call("Page.navigate", json!({ "url": address }));
        assert!(answer["errorText"].is_null(), "{address}: {}", answer["errorText"]);
        while !self.loaded {
            self.receive("the page to load");
        }
        self.settle();
    }

    /// Waits until the page has drawn what was done to it.
    fn settle(&mut self) {
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
    }

    /// Errors on the console, uncaught exceptions and failed requests since the page was opened.
    pub fn problems(&mut self) -> Vec<String> {
        // What was reported before this answer is in by then.
        self.evaluate("0");
        self.problems.clone()
    }

    /// The value of a JavaScript expression, or what its promise comes to. Must not throw.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let request = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", request);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Moves the mouse to a point of the window.
    pub fn hover(&mut self, (x, y): (f64, f64)) {
        self.mouse("mouseMoved", (x, y), "none");
        self.settle();
    }

    /// Clicks at a point of the window with the left button.
    pub fn click(&mut self, (x, y): (f64, f64)) {
        self.mouse("mouseMoved", (x, y), "none");
        self.mouse("mousePressed", (x, y), "left");
        self.mouse("mouseReleased", (x, y), "left");
        self.settle();
    }

    /// Presses a key that has a name, such as `Enter`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("the key {other} has no code here"),
        };
        let mut event = json!({ "type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code });
        if key == "Enter" {
            event["text"] = json!("\r");
        }
        self.call("Input.dispatchKeyEvent", event);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "code": key }));
        self.settle();
    }

    /// Types a text into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
        self.settle();
    }

    /// Waits until a JavaScript expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        while self.evaluate(expression) != true {
            assert!(Instant::now() < self.deadline, "{expression} does not become true");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.settle();
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), button: &str) {
        let count = u32::from(button != "none");
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Scrolls to the element that a JavaScript expression gives, and returns the middle of it in the window.
    pub fn middle_of(&mut self, element: &str) -> (f64, f64) {
        let middle = self.evaluate(&format!(
            "(() => {{ const element = {element}; element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
               const box = element.getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        self.settle();
        (middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap())
    }

    /// The window as a PNG file.
    pub fn screenshot(&mut self) -> Vec<u8> {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
    }

    /// Asks and waits for the answer, which must not be an error.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut request = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&request).unwrap();
        bytes.push(0);
        // A browser that has ended has said why; the answer that does not come will tell.
        let _ = self.requests.write_all(&bytes);
        loop {
            let mut message = self.receive(method);
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
        }
    }

    /// The next message, noted where it tells of a problem or that the page is loaded.
    fn receive(&mut self, awaited: &str) -> Value {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left).unwrap_or_else(|error| {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            panic!("the browser did not answer ({error}) while waiting for {awaited}; its log:\n{log}")
        });
        if message["sessionId"].as_str() == self.session.as_deref() {
            let said = &message["params"];
            match message["method"].as_str() {
                Some("Page.loadEventFired") => self.loaded = true,
                Some("Runtime.exceptionThrown") => self.problems.push(said["exceptionDetails"].to_string()),
                Some("Runtime.consoleAPICalled") if said["type"] == "error" || said["type"] == "assert" => {
                    self.problems.push(said["args"].to_string());
                }
                Some("Log.entryAdded") if said["entry"]["level"] == "error" => {
                    self.problems.push(said["entry"].to_string());
                }
                _ => {}
            }
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The whole group, which this browser leads: its helpers would outlive it for a while.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_there(program: &OsString) -> bool {
    let version = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    version.is_ok_and(|output| output.status.success())
}

/// A file's address; its path is absolute.
fn address(file: &Path) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    format!("file://{}", percent_encode(file.as_os_str().as_encoded_bytes(), ESCAPED))
}
