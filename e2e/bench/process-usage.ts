/** The resources that a process and its children have used, from /proc; zeros if there is no /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second on every machine. */
const TICKS_PER_MS = 0.1;

export interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

export function usageOf(pid: number): Usage {
  let cpuMs = 0;
  let rssBytes = 0;
  for (const id of [pid, ...descendantsOf(pid)]) {
    const usage = ownUsage(id);
    cpuMs += usage.cpuMs;
    rssBytes += usage.rssBytes;
  }
  return { cpuMs, rssBytes };
}

function ownUsage(pid: number): Usage {
  try {
    const fields = statOf(pid);
    // utime, stime, cutime and cstime are fields 14 to 17; the name was cut off together with the first two fields. The
    // last two are the time of children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return { cpuMs: ticks / TICKS_PER_MS, rssBytes: pages * 4096 };
  } catch {
    return { cpuMs: 0, rssBytes: 0 };
  }
}

function descendantsOf(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(statOf(Number(name))[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // The process has ended in the meantime.
    }
  }
  const found: number[] = [];
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const below = children.get(next) ?? [];
    found.push(...below);
    open.push(...below);
  }
  return found;
}

/** The fields after the name, which is in parentheses and can contain any character. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
