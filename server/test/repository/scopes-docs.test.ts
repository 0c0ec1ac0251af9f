/** Checks that docs/scopes.md lists every operation with its scope. Run with UPDATE_DOCS=1 to update it, and then `pnpm format`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NARROWED_CALLS } from '../../src/api/access/narrowed-calls.js';

const FILE = new URL('../../../docs/scopes.md', import.meta.url);
const OPENAPI = new URL('../../openapi/openapi.json', import.meta.url);
const NARROWED = /conductor:(viewer|controller|worker)/;

/** Everybody may call them: what they show is public, and webhooks verify signatures. */
const PUBLIC: ReadonlySet<string> = new Set([
  'GET /api/info',
  'GET /health/live',
  'GET /health/ready',
  'POST /hooks/{name}',
  'GET /metrics',
  'GET /schemas/definition.json',
  'GET /schemas/limit.json',
  'GET /schemas/test-file.json',
]);

interface Operation {
  readonly name: string;
  readonly summary: string;
  readonly scopes: readonly string[];
}

interface Described {
  readonly summary: string;
  readonly security?: readonly { readonly bearer?: readonly string[] }[];
}

const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};
const OPERATIONS: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { security = [], summary }]) => ({
    name: `${method.toUpperCase()} ${path}`,
    summary,
    scopes: security.flatMap(({ bearer = [] }) => bearer),
  })),
);

/** As routes write it: `GET /api/workflow/:id`. */
function routeOf(name: string): string {
  return name.replaceAll(/\{(\w+)\}/g, ':$1');
}

function withPrefix({ name, scopes }: Operation): string {
  if (!scopes.some((scope) => NARROWED.test(scope))) return '';
  return Object.hasOwn(NARROWED_CALLS, routeOf(name)) ? 'narrowed' : '403';
}

function row(operation: Operation): string {
  const { name, scopes, summary } = operation;
  const needed = scopes.length === 0 ? 'none' : scopes.map((scope) => `\`${scope}\``).join(' or ');
  return `| \`${name}\` | ${summary} | ${needed} | ${withPrefix(operation)} |`;
}

/** Columns are as wide as they need to be. */
function unaligned(text: string): string {
  return text.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---');
}

describe('the scope of a call', () => {
  it('is documented, with the effect of a prefix', () => {
    const text = readFileSync(FILE, 'utf8');
    const [before = '', rest = ''] = text.split('<!-- scopes -->\n');
    const [, after = ''] = rest.split('<!-- end of scopes -->');
    const table = ['| Call | Does | Scope | With a prefix |', '| --- | --- | --- | --- |'];
    const rows = [...table, ...OPERATIONS.map(row)].join('\n');
    const fresh = `${before}<!-- scopes -->\n\n${rows}\n\n<!-- end of scopes -->${after}`;
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, fresh);
    else expect(unaligned(text), 'run with UPDATE_DOCS=1 to update it').toBe(unaligned(fresh));
  });

  it('is absent only where everyone may call', () => {
    const open = OPERATIONS.filter(({ scopes }) => scopes.length === 0).map(({ name }) => name);
    expect(new Set(open)).toEqual(PUBLIC);
  });

  it('is narrowed only for calls that exist', () => {
    const routes = new Set(OPERATIONS.map(({ name }) => routeOf(name)));
    expect(Object.keys(NARROWED_CALLS).filter((name) => !routes.has(name))).toEqual([]);
  });
});
