/**
 * YAML bodies: YAML 1.2, core schema, one document.
 *
 * The library does the lexing, parsing and composing. This module adds the limits that the library lacks: it checks the
 * depth while parsing (composing is recursive), finds duplicate names with a set (the library compares all pairs),
 * expands aliases within a budget, and accepts only the tags of the core schema. Timestamps stay strings.
 */
import { Composer, Lexer, Parser, type Alias, type CST, type Document } from 'yaml';
import type { AppError } from '../../base/errors.js';
import type { ApiLimits } from './api-limits.js';
import { unreadable } from './json-format.js';
import type { ParsedBody } from './request-context.js';
import { yamlLocator, yamlNumbers } from './yaml-position.js';
import { YamlReader } from './yaml-reader.js';

/** Null if the text contains only white space and comments. @throws AppError `unreadable_body` with line and column */
export function parseYaml(text: string, limits: ApiLimits): ParsedBody | null {
  const document = compose(text, limits);
  if (document === null) return null;
  const { contents } = document;
  const reader = new YamlReader(text, limits);
  const value = reader.read(contents);
  const targetOf = (alias: Alias) => reader.targetOf(alias);
  const located = { text, contents, targetOf };
  return {
    value,
    text,
    locator: () => yamlLocator(located),
    numbers: () => yamlNumbers(located),
  };
}

/** Parses every document as YAML 1.2, even if a `%YAML` line says otherwise. */
const COMPOSER_OPTIONS = {
  schema: 'core',
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  uniqueKeys: false,
  prettyErrors: false,
} as const;

function compose(text: string, limits: ApiLimits): Document.Parsed | null {
  const composer = new Composer(COMPOSER_OPTIONS);
  stopAtFirstError(composer, text);
  const [document] = [...composer.compose(parseTokens(text, limits))];
  if (document === undefined) return null;
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem === undefined) return document;
  throw invalidYaml(text, problem.pos[0], problem);
}

interface ComposeProblem {
  readonly code: string;
  readonly message: string;
}

function invalidYaml(text: string, offset: number, { code, message }: ComposeProblem): AppError {
  const reason = code === 'NON_STRING_KEY' ? 'map keys must be strings' : message;
  return unreadable(text, offset, `Invalid YAML: ${reason}`);
}

/**
 * The composer creates an error object with a stack for every misplaced token, which can take seconds for a malicious body. Its
 * handler is replaced by one that throws, even for warnings such as an unknown tag. If the library renames its handler, the
 * errors are still found in the document.
 */
function stopAtFirstError(composer: Composer, text: string): void {
  let first: AppError | null = null;
  const onError = (source: ErrorSource, code: string, message: string): void => {
    // The reader checks what an alias as a key refers to.
    if (code === 'NON_STRING_KEY' && isAliasToken(source)) return;
    const offset =
      typeof source === 'number' ? source : 'offset' in source ? source.offset : source[0];
    // The composer catches errors thrown inside collections, and calls the handler again.
    first ??= invalidYaml(text, offset, { code, message });
    throw first;
  };
  Object.assign(composer, { onError });
}

type ErrorSource =
  number | readonly [number, ...number[]] | { readonly offset: number; readonly type?: string };

function isAliasToken(source: ErrorSource): boolean {
  return typeof source === 'object' && 'type' in source && source.type === 'alias';
}

/**
 * The parser has its own stack, but the composer and all later code recurse. Therefore, documents that are too deep or
 * too long are rejected here.
 */
function* parseTokens(text: string, limits: ApiLimits): Generator<CST.Token, void> {
  const parser = new Parser();
  // A collection, its key and its value: up to three stack entries per level.
  const stackMax = 3 * limits.bodyDepthMax + 3;
  const guard = new StreamGuard(text);
  let offset = 0;
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) yield guard.checked(token);
    lexemes += 1;
    if (lexemes > limits.yamlTokensMax) {
      throw unreadable(text, offset, `The body has more than ${limits.yamlTokensMax} YAML tokens`);
    }
    if (parser.stack.length > stackMax) {
      throw unreadable(
        text,
        offset,
        `The body is nested deeper than ${limits.bodyDepthMax} levels`,
      );
    }
    offset += lexeme.length;
  }
  for (const token of parser.end()) yield guard.checked(token);
}

/** Passes one document on, preceded by at most one `%YAML` line. */
class StreamGuard {
  readonly #text: string;
  readonly #seen = { document: 0, directive: 0 };

  constructor(text: string) {
    this.#text = text;
  }

  checked(token: CST.Token): CST.Token {
    if (token.type === 'error') {
      throw unreadable(this.#text, token.offset, `Invalid YAML: ${token.message}`);
    }
    if (token.type !== 'document' && token.type !== 'directive') return token;
    this.#seen[token.type] += 1;
    if (this.#seen.document > 1) {
      throw unreadable(this.#text, token.offset, 'The body contains more than one YAML document');
    }
    if (token.type === 'directive') {
      if (this.#seen.directive > 1 || !token.source.startsWith('%YAML ')) {
        throw unreadable(
          this.#text,
          token.offset,
          'The only YAML directive allowed is a single %YAML',
        );
      }
    }
    return token;
  }
}
