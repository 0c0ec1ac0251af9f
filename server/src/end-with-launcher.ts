/**
 * Ends this process when what started it is gone. npx, npm, pnpm and the launcher in `bin/` stay in front of a command until it
 * ends: whoever tells them to end means the command, but they do not always pass the signal on, and cannot when they are killed.
 *
 *  EL1 A process that was started to outlive its parent goes on. So only those launchers count, and not in scripts that put
 *      something into the background. What has started the outermost launcher (a shell, a service manager) never counts.
 */
import { readFileSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

/** A process, and the one that waits for its end. */
interface Link {
  readonly child: number;
  readonly parent: number;
}

const INTERVAL_MS = 500;
/** More launchers are in front of no command. */
const LINKS_MAX = 20;
const PROGRAMS: ReadonlySet<string> = new Set(['stepwright', 'npm', 'npx', 'pnpm', 'yarn']);
const OWN_FILE = /(?:stepwright\.js|dist\/(?:cli\/)?main\.js)$/;

let isWatching = false;
let isGone = false;

/** Whether this process ends because its launcher has ended. */
export function launcherIsGone(): boolean {
  return isGone;
}

/** Sends SIGTERM to this process when a launcher in front of it is gone. */
export function endWithLauncher(environment: NodeJS.ProcessEnv): void {
  if (isWatching) return;
  isWatching = true;
  const links = linksOf(environment);
  // Not for expressions, which see the environment.
  delete environment['STEPWRIGHT_LAUNCHER'];
  if (links.length === 0) return;
  const timer = setInterval(() => {
    if (links.every(({ child, parent }) => parentOf(child) === parent)) return;
    clearInterval(timer);
    isGone = true;
    process.kill(process.pid, 'SIGTERM');
  }, INTERVAL_MS);
  timer.unref();
}

/** From this process to the outermost launcher. */
function linksOf(environment: Environment): readonly Link[] {
  const links: Link[] = [];
  let child = process.pid;
  let known: Environment | null = environment;
  while (known !== null && links.length < LINKS_MAX) {
    const parent = parentOf(child);
    if (parent === null) break;
    // Set by `bin/stepwright.js`, if it stays in front of this process.
    const isOurs = child === process.pid && known['STEPWRIGHT_LAUNCHER'] === String(parent);
    if (!isOurs && !isInForeground(known['npm_lifecycle_script'])) break;
    links.push({ child, parent });
    child = parent;
    known = environmentOf(parent);
  }
  return links;
}

/**
 * Whether a script of a package manager waits for the end of each of its commands, and one of them is ours or a package manager.
 * The environment of processes has the script that they belong to.
 */
export function isInForeground(script: string | undefined): boolean {
  if (script === undefined) return false;
  // The `&` of `&&`, `2>&1` and `&>` puts nothing into the background.
  const separated = script.replaceAll(/&&|\d?>&\d?|&>/g, (text) => (text === '&&' ? ';' : ' '));
  if (separated.includes('&')) return false;
  return separated.split(/[;|]/).some((command) => startsUs(command));
}

function startsUs(command: string): boolean {
  const words = command.replaceAll(/["']/g, '').trim().split(/\s+/);
  const [first = '', second = ''] = words.filter(
    (word) => word !== 'exec' && word !== 'env' && word !== 'cross-env' && !word.includes('='),
  );
  const program = first.slice(first.lastIndexOf('/') + 1);
  return PROGRAMS.has(program) || OWN_FILE.test(program === 'node' ? second : first);
}

/** Null: unknown, as on systems without `/proc`, where only the parent of this process is known. */
function parentOf(pid: number): number | null {
  if (pid === process.pid) return process.ppid;
  try {
    // The second field, the name in parentheses, may contain anything.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(parent);
  } catch {
    return null;
  }
}

function environmentOf(pid: number): Environment | null {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const members = text.split('\0').map((member): [string, string] => {
      const at = member.indexOf('=');
      return [member.slice(0, at), member.slice(at + 1)];
    });
    return Object.fromEntries(members);
  } catch {
    return null;
  }
}
