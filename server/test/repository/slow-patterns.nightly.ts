/**
 * No regular expression of the server or the SDKs takes more than linear time: recheck analyzes every one in their
 * sources, exactly (as an automaton) where possible, and otherwise by searching for an attack.
 */
import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FOLDERS = ['server/src', 'sdk/src', 'worker-sdk/src'];
const CHECK_TIMEOUT_MS = 120_000;

/** Built at run time from values that are not in the source: each has a reason why it is harmless. */
const DYNAMIC: readonly string[] = [
  // Paths of our own routes; `[^/]+` between slashes.
  'server/src/api/http/unmatched.ts',
  // Words and short patterns of our own, over texts of at most 1,000 characters.
  'server/src/engine/definitions/foreign/foreign-rules.ts',
  // A name of at most 100 word characters, from a message of Python.
  'server/src/engine/definitions/foreign/failure-hint.ts',
  // The pattern of one template, as a whole.
  'server/src/engine/definitions/foreign/templates.ts',
  // A Python name between word boundaries.
  'server/src/engine/definitions/late-warnings.ts',
  // A random mark of letters and digits, and the text between it and a quote.
  'sdk/src/exact-json.ts',
];

interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** The value of an expression that consists of constants in the same file; null for anything else. */
function constantText(node: ts.Expression, file: ts.SourceFile): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText(file) === 'String.raw') {
    return ts.isNoSubstitutionTemplateLiteral(node.template)
      ? (node.template.rawText ?? null)
      : null;
  }
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map(({ expression, literal }) => {
      const value = constantText(expression, file);
      return value === null ? null : value + literal.text;
    });
    return parts.includes(null) ? null : node.head.text + parts.join('');
  }
  if (ts.isIdentifier(node)) {
    const found = file.statements
      .filter((statement) => ts.isVariableStatement(statement))
      .flatMap(({ declarationList }) => [...declarationList.declarations])
      .find(({ name }) => name.getText(file) === node.text);
    return found?.initializer === undefined ? null : constantText(found.initializer, file);
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null;
  const { expression: list, name } = node.expression;
  if (name.text !== 'join' || !ts.isArrayLiteralExpression(list)) return null;
  const parts = list.elements.map((element) => constantText(element, file));
  const [separator] = node.arguments;
  const between = separator === undefined ? ',' : constantText(separator, file);
  return between === null || parts.includes(null) ? null : parts.join(between);
}

function patternsOf(path: string): readonly Pattern[] {
  const place = path.slice(ROOT.length + 1);
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const patterns: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      patterns.push({ place, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    } else if (ts.isNewExpression(node) && node.expression.getText(file) === 'RegExp') {
      const [pattern, flags] = node.arguments ?? [];
      const source = pattern === undefined ? null : constantText(pattern, file);
      if (source !== null) {
        patterns.push({
          place,
          source,
          flags: flags === undefined ? '' : constantText(flags, file)!,
        });
      } else if (!DYNAMIC.includes(place)) {
        throw new Error(`${place}: ${node.getText(file)} is not made of constants; see DYNAMIC`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return patterns;
}

/** The search for an attack measures time: a busy machine may seem to confirm one that does not exist, but not each time. */
const SEARCHES_MAX = 3;

function complexityOf(pattern: Pick<Pattern, 'source' | 'flags'>): string {
  let complexity = '';
  for (let search = 0; search < SEARCHES_MAX; search += 1) {
    complexity = complexityFound(pattern);
    if (complexity === 'safe') break;
  }
  return complexity;
}

function complexityFound({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string {
  // A sticky pattern matches at one position only, as with an anchor.
  const [checked, others] = flags.includes('y')
    ? [`^(?:${source})`, flags.replace('y', '')]
    : [source, flags];
  const found = checkSync(checked, others, { timeout: CHECK_TIMEOUT_MS });
  if (found.status === 'safe') return 'safe';
  const detail = found.status === 'vulnerable' ? found.complexity.summary : found.error.kind;
  return `${found.status}: ${detail}`;
}

const PATTERNS = FOLDERS.flatMap((folder) =>
  globSync(`${ROOT}/${folder}/**/*.ts`, { exclude: ['**/generated/**'] }).flatMap(patternsOf),
);

describe('a regular expression', () => {
  beforeAll(() => {
    // The same everywhere: the binaries are not installed.
    process.env['RECHECK_BACKEND'] = 'pure';
  });

  it('is found in the sources, even if it is composed', () => {
    expect(PATTERNS.length).toBeGreaterThan(60);
    const places = new Set(PATTERNS.map(({ place }) => place));
    expect(places).toContain('server/src/engine/values/durations.ts');
    expect(places).toContain('server/src/scripts/expressions/read-plain-expression.ts');
  });

  it.each(['[ \\t\\n\\f]+$', '^(a+)+$', '(\\d+)-\\1x|\\s+,'])(
    'is detected if it is slow: %s',
    (source) => {
      expect(complexityOf({ source, flags: '' })).not.toBe('safe');
    },
  );

  it('takes linear time', { timeout: 300_000 }, () => {
    const distinct = new Map(
      PATTERNS.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]),
    );
    const slow = [...distinct].flatMap(([text, pattern]) => {
      const complexity = complexityOf(pattern);
      return complexity === 'safe' ? [] : [`${pattern.place}: ${text} is ${complexity}`];
    });
    expect(slow).toEqual([]);
  });
});
