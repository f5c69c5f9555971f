//! The part of the zoo with extended attributes: ACLs, capabilities, security contexts.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{XattrFlags, setxattr};

use super::{Keeper, chmod};

impl Keeper {
    pub(super) fn attributes(&mut self) -> io::Result<()> {
        for name in
            ["acl-file", "acl-mask-only", "capable", "capable-setuid", "user-attribute", "selinux-file"]
        {
            self.file(name)?;
        }
        chmod(&self.path("capable-setuid"), 0o4755)?;
        chmod(&self.path("capable"), 0o755)?;
        for name in ["acl-dir", "acl-default-dir", "selinux-dir"] {
            fs::create_dir(self.path(name))?;
        }
        self.tool("setfacl", &["-m", "u:1:rw", "acl-file"]);
        self.tool("setfacl", &["-m", "m::r", "acl-mask-only"]);
        self.tool("setfacl", &["-m", "g:1:rx", "acl-dir"]);
        self.tool("setfacl", &["-d", "-m", "u:1:rwx", "acl-default-dir"]);
        self.tool("setcap", &["cap_net_raw+ep", "capable"]);
        self.tool("setcap", &["cap_net_raw+ep", "capable-setuid"]);
        self.attribute("user-attribute", "user.note", b"seen");
        for name in ["selinux-file", "selinux-dir"] {
            self.attribute(name, "security.selinux", b"system_u:object_r:etc_t:s0\0");
        }
        Ok(())
    }

    fn tool(&mut self, program: &str, args: &[&str]) {
        let done = run(program, args, &self.root);
        self.attempt(format!("{program} {}", args.join(" ")), done);
    }

    fn attribute(&mut self, name: &str, attribute: &str, value: &[u8]) {
        let set = setxattr(self.path(name), attribute, value, XattrFlags::empty());
        self.attempt(format!("{attribute} on {name}"), set);
    }
}

fn run(program: &str, args: &[&str], cwd: &Path) -> Result<(), String> {
    let path = "/usr/sbin:/usr/bin:/sbin:/bin";
    let mut command = Command::new(program);
    command.args(args).current_dir(cwd).env("PATH", path).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
    }
}
