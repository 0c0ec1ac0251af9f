/**
 * Pure expressions leave no trace: after hundreds of them on one interpreter that is never restored, everything that
 * the runner and the modules hold is unchanged.
 *
 * The test calls the interpreter directly, because the runtime would restore it before the inspection.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { classifyExpression } from '../../../src/scripts/expressions/classify-expression.js';
import {
  PURE_FUNCTIONS,
  PURE_METHODS,
  PURE_QUALIFIED_FUNCTIONS,
} from '../../../src/scripts/expressions/python-names.js';
import {
  createChildCommand,
  findPyodideFolder,
} from '../../../src/scripts/pyodide/child-command.js';
import { InterpreterProcess } from '../../../src/scripts/pyodide/interpreter-process.js';
import {
  createBootRequest,
  defaultSnapshotPath,
  ensureSnapshot,
} from '../../../src/scripts/pyodide/snapshot.js';
import { withPrelude } from './attacks.js';

const DATA = {
  n: 7,
  f: 2.5,
  s: 'Some text',
  l: [3, 1, 2],
  rows: [{ a: 1, b: 'x' }],
  d: { x: 1, items: 5 },
  none: null,
};

/** Everything that is reachable by name: identities of objects, and contents of everything except code. */
const FINGERPRINT = withPrelude(
  [
    'import decimal, re, warnings',
    // The inspection itself creates the last two.
    'skip = ("_compiled", "_requests", "progress", "__spec__", "__warningregistry__")',
    'def look(d):',
    '  return {k: [id(v), len(v) if isinstance(v, (dict, list, set, frozenset, tuple, str, bytes)) else 0] for k, v in d.items() if type(k) is str and k not in skip}',
    'modules = {n: look(vars(m)) for n, m in sys.modules.items() if hasattr(m, "__dict__") and n != "__main__"}',
    'types = {t.__module__ + "." + t.__qualname__: look(vars(t)) for t in (G["Record"], G["NonRetryableError"], dict, list, str, int)}',
    'runner = look(G)',
    'other = [repr(decimal.getcontext()), len(re._cache), len(warnings.filters), sys.getrecursionlimit(), len(sys.modules), sys.gettrace() is None, repr(G["_settings"]), len(gc.callbacks)]',
    'x = repr([modules, types, runner, other])',
    'import hashlib',
    'parts = {n: hashlib.sha256(repr(v).encode()).hexdigest() for n, v in [*modules.items(), *types.items(), ("runner", runner), ("other", other)]}',
    'for name in ("modules", "types", "runner", "other", "x", "f", "skip"): del globals()[name]',
  ].join('\n'),
);

let interpreter: InterpreterProcess;

beforeAll(async () => {
  const snapshotPath = defaultSnapshotPath();
  await ensureSnapshot(snapshotPath, AbortSignal.timeout(60_000));
  interpreter = new InterpreterProcess(
    createChildCommand(findPyodideFolder(), [snapshotPath]),
    8 << 20,
  );
  const limits = {
    memoryLimitBytes: 160 << 20,
    resultLimitBytes: 2 << 20,
    outputLimitBytes: 1 << 16,
    recursionMax: 1000,
  };
  const request = createBootRequest(
    { ...limits, environment: {} },
    { task: 'serve', snapshotPath },
  );
  await interpreter.boot(request, AbortSignal.timeout(60_000));
});
afterAll(async () => {
  interpreter.kill('done');
  await interpreter.waitForExit();
});

async function call(request: object, pure: boolean): Promise<string> {
  const variables = Buffer.from(JSON.stringify({ data: DATA, context: { Index: 0 } }));
  const frame = { request: Buffer.from(JSON.stringify(request)), variables, timeoutMs: 2000, pure };
  const end = await interpreter.call(frame);
  if (end.kind !== 'reply') throw new Error(end.kind);
  const { outcome, result } = end.reply;
  // A pure expression may time out; then the interpreter was restored, and there is nothing to inspect.
  return outcome === 'answered' ? result.toString() : outcome;
}

async function evaluatePure(source: string): Promise<string> {
  return call({ kind: 'expressions', sources: [source], targets: [null], pure: true }, true);
}

/** @param pure true: runs on the interpreter as it is, without restoring it */
async function fingerprint(pure: boolean): Promise<Record<string, string>> {
  const answer = await call({ kind: 'script', source: FINGERPRINT }, pure);
  const [header = '', ...lines] = answer.split('\n');
  const { names, failed } = JSON.parse(header) as { names?: string[]; failed?: unknown };
  if (names === undefined) throw new Error(JSON.stringify(failed ?? answer));
  return JSON.parse(lines[names.indexOf('parts')]!) as Record<string, string>;
}

/** Expressions from everything that counts as pure, most of them meaningless. */
function pureExpressions(count: number): readonly string[] {
  const leaf = fc.constantFrom(
    '1',
    '0',
    '-1',
    '2.5',
    '"a"',
    '""',
    '"%s"',
    '"%Y"',
    'None',
    'True',
    '[]',
    '{}',
    '(1, 2)',
    '[3, 1]',
    'x',
    'data',
    'data.n',
    'data.s',
    'data.l',
    'data.rows',
    'data.d',
    'data.d.items',
    'data.none',
    'data.missing',
    'data["l"][0]',
    'context.Index',
    'math.pi',
    'timezone.utc',
    'environment',
  );
  const { expression } = fc.letrec<{ expression: string }>((tie) => {
    const inner = tie('expression');
    const some = fc.array(inner, { maxLength: 3 }).map((items) => items.join(', '));
    return {
      expression: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(fc.constantFrom(...PURE_FUNCTIONS.keys()), some)
          .map(([name, items]) => `${name}(${items})`),
        fc
          .tuple(fc.constantFrom(...PURE_QUALIFIED_FUNCTIONS.keys()), some)
          .map(([name, items]) => `${name}(${items})`),
        fc
          .tuple(inner, fc.constantFrom(...PURE_METHODS), some)
          .map(([object, name, items]) => `(${object}).${name}(${items})`),
        fc
          .tuple(inner, fc.constantFrom('+', '-', '*', '%', '==', '<', 'in', 'or', '|'), inner)
          .map((parts) => `(${parts.join(' ')})`),
        fc.tuple(inner, inner).map(([element, list]) => `[${element} for x in ${list}]`),
        fc.tuple(inner, inner).map(([key, value]) => `{${key}: ${value}}`),
        fc.tuple(inner, inner).map(([object, key]) => `(${object})[${key}]`),
        inner.map((object) => `(${object}).real`),
        fc.constantFrom('f"{data.s!r:>20}"', 'f"{data.n:05d}"', 'f"{data.f:.1f}{data.none}"'),
      ),
    };
  });
  return fc
    .sample(expression, { numRuns: count, seed: 314 })
    .filter((source) => classifyExpression(source).pure);
}

describe('the inspection of pure expressions', () => {
  it('finds no trace of a pure expression', async () => {
    const before = await fingerprint(false);
    expect(Object.keys(before).length).toBeGreaterThan(100);
    // The inspection is repeatable.
    expect(await fingerprint(false)).toEqual(before);
    const sources = pureExpressions(1500);
    expect(sources.length).toBeGreaterThan(500);
    const answers = [];
    // Fewer than the number after which the interpreter restores itself.
    for (const source of sources.slice(0, 900)) answers.push(await evaluatePure(source));
    expect(answers.filter((answer) => answer.startsWith('{}')).length).toBeGreaterThan(100);
    expect(answers).not.toContain('{"unproven":true}');
    expect(answers.filter((answer) => !answer.startsWith('{'))).toEqual([]);
    expect(await fingerprint(true)).toEqual(before);
  });

  it('finds the trace of an expression that is not pure', async () => {
    const before = await fingerprint(false);
    for (const change of [
      'json.dumps = 5',
      'data.__class__.x = 1',
      're.compile("new pattern")',
      'warnings.warn = 5',
    ]) {
      const source = `import json, re, warnings\n${change}`;
      await call({ kind: 'script', source }, true);
      // `pure` was false information: the script was not proven to be pure. Its changes remain, and the inspection
      // finds them.
      expect(await fingerprint(true)).not.toEqual(before);
      expect(await fingerprint(false)).toEqual(before);
    }
  });

  it('shows that the interpreter rejects expressions that are not pure', async () => {
    for (const source of ['data.__class__', '(lambda: 1)()', '[x.__dict__ for x in data.l]']) {
      expect(await evaluatePure(source)).toBe('{"unproven":true}');
    }
  });
});
