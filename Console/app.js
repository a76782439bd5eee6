/**
 * The admin console: the first module that runs.
 */

import { makeShell } from "./core/shell.js";
import { start } from "./core/router.js";
import { makeToasts } from "./components/toast.js";
import "./components/time.js";

document.body.append(makeToasts());
start(makeShell(document.getElementById("app")));
