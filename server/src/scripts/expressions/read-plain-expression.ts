/** Parses a plain expression: one method per rule of the grammar in plain-expression.ts. */
import type { Json } from '../../engine/values/json.js';
import type {
  ArithmeticOperator,
  ComparisonLink,
  ComparisonOperator,
  PathKey,
  PathVariable,
  PlainExpression,
  PlainPath,
} from './plain-expression.js';
import { KEYWORDS, VARIABLE_NAMES } from './python-names.js';

interface Token {
  readonly kind: 'text' | 'number' | 'word' | 'symbol' | 'end';
  /** As written; for string literals, the text between the quotes. */
  readonly text: string;
}

/** Also bounds the depth of the tree. CPython accepts 200 nested brackets, which takes more tokens than this. */
const MAX_TOKENS = 200;
const TOKEN = new RegExp(
  [
    String.raw`([ \n]*)(?:`,
    String.raw`"(?<double>[^"\\\n\r\0]*)"|'(?<single>[^'\\\n\r\0]*)'`,
    // Up to 15 digits are exact; `1if`, `1.`, `1_000`, `1e5` and `007` are left to Python.
    String.raw`|(?<number>(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?![\w.]))`,
    String.raw`|(?<word>[A-Za-z_]\w*)`,
    String.raw`|(?<symbol>[=!<>]=|//|[-+*/%<>()[\],.])`,
    ')',
  ].join(''),
  'y',
);

const NAMED_CONSTANTS = new Map<string, Json>([
  ['True', true],
  ['False', false],
  ['None', null],
]);
const SUM_OPERATORS = new Map<string, ArithmeticOperator>([
  ['+', '+'],
  ['-', '-'],
]);
const PRODUCT_OPERATORS = new Map<string, ArithmeticOperator>([
  ['*', '*'],
  ['/', '/'],
  ['//', '//'],
  ['%', '%'],
]);
const COMPARISON_SYMBOLS = new Map<string, ComparisonOperator>([
  ['==', '=='],
  ['!=', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);
const LONE_SURROGATE = /\p{Surrogate}/u;
const LARGEST_INDEX = /^\d{1,9}$/;

/**
 * @param source without padding
 * @returns null if the source is not in the grammar
 */
export function readPlainExpression(source: string): PlainExpression | null {
  const tokens = readTokens(source);
  if (tokens === null) return null;
  try {
    return new Reader(tokens).readAll();
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

function readTokens(source: string): readonly Token[] | null {
  // CPython rejects a source with an unpaired surrogate.
  if (LONE_SURROGATE.test(source)) return null;
  const tokens: Token[] = [];
  let open = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (match === null || tokens.length >= MAX_TOKENS) return null;
    // Outside brackets, the end of a line ends the expression.
    if (open === 0 && match[1]?.includes('\n') === true) return null;
    const token = tokenOf(match);
    if (token.kind === 'symbol' && '(['.includes(token.text)) open += 1;
    if (token.kind === 'symbol' && ')]'.includes(token.text)) open -= 1;
    tokens.push(token);
  }
  return tokens;
}

function tokenOf({ groups = {} }: RegExpExecArray): Token {
  const { double, single, number, word, symbol } = groups;
  if (number !== undefined) return { kind: 'number', text: number };
  if (word !== undefined) return { kind: 'word', text: word };
  if (symbol !== undefined) return { kind: 'symbol', text: symbol };
  return { kind: 'text', text: double ?? single ?? '' };
}

/** Thrown if the source is not in the grammar. */
class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

const END: Token = { kind: 'end', text: '' };

class Reader {
  readonly #tokens: readonly Token[];

  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  readAll(): PlainExpression {
    const expression = this.#readExpression();
    if (this.#next.kind !== 'end') throw new NotPlain();
    return expression;
  }

  #readExpression(): PlainExpression {
    const then = this.#readDisjunction();
    if (!this.#takeWord('if')) return then;
    const condition = this.#readDisjunction();
    if (!this.#takeWord('else')) throw new NotPlain();
    return { kind: 'conditional', condition, then, otherwise: this.#readExpression() };
  }

  #readDisjunction(): PlainExpression {
    let left = this.#readConjunction();
    while (this.#takeWord('or')) left = { kind: 'or', left, right: this.#readConjunction() };
    return left;
  }

  #readConjunction(): PlainExpression {
    let left = this.#readInversion();
    while (this.#takeWord('and')) left = { kind: 'and', left, right: this.#readInversion() };
    return left;
  }

  #readInversion(): PlainExpression {
    if (this.#takeWord('not')) return { kind: 'not', operand: this.#readInversion() };
    return this.#readComparison();
  }

  #readComparison(): PlainExpression {
    const first = this.#readSum();
    const links: ComparisonLink[] = [];
    for (
      let operator = this.#takeComparison();
      operator !== null;
      operator = this.#takeComparison()
    ) {
      links.push({ operator, operand: this.#readCompared(operator) });
    }
    return links.length === 0 ? first : { kind: 'comparison', first, links };
  }

  #takeComparison(): ComparisonOperator | null {
    const { kind, text } = this.#next;
    const symbol = kind === 'symbol' ? COMPARISON_SYMBOLS.get(text) : undefined;
    if (symbol !== undefined) {
      this.#position += 1;
      return symbol;
    }
    if (this.#takeWord('is')) return this.#takeWord('not') ? 'is not' : 'is';
    if (this.#takeWord('in')) return 'in';
    if (!this.#takeWord('not')) return null;
    if (!this.#takeWord('in')) throw new NotPlain();
    return 'not in';
  }

  #readCompared(operator: ComparisonOperator): PlainExpression {
    if (operator === 'is' || operator === 'is not') {
      const constant = this.#takeNamedConstant();
      // Equal numbers or strings may be one object or two.
      if (constant === null) throw new NotPlain();
      return constant;
    }
    return this.#readSum();
  }

  #readSum(): PlainExpression {
    return this.#readArithmetic(SUM_OPERATORS, () => this.#readProduct());
  }

  #readProduct(): PlainExpression {
    return this.#readArithmetic(PRODUCT_OPERATORS, () => this.#readFactor());
  }

  #readArithmetic(
    operators: ReadonlyMap<string, ArithmeticOperator>,
    readOperand: () => PlainExpression,
  ): PlainExpression {
    let left = readOperand();
    for (;;) {
      const operator = this.#next.kind === 'symbol' ? operators.get(this.#next.text) : undefined;
      if (operator === undefined) return left;
      this.#position += 1;
      left = { kind: 'arithmetic', operator, left, right: readOperand() };
    }
  }

  #readFactor(): PlainExpression {
    if (this.#takeSymbol('-')) return { kind: 'negative', operand: this.#readFactor() };
    return this.#readPrimary();
  }

  #readPrimary(): PlainExpression {
    const path = this.#readPath() ?? this.#takeNamedConstant();
    if (path !== null) return path;
    if (this.#takeSymbol('(')) return this.#readGroup();
    if (this.#takeSymbol('[')) return { kind: 'list', items: this.#readItems(']') };
    if (this.#takeWord('len')) return this.#readLength();
    const { kind, text } = this.#take();
    if (kind === 'text') return { kind: 'constant', value: text };
    if (kind === 'number') return { kind: 'constant', value: Number(text) };
    throw new NotPlain();
  }

  #readGroup(): PlainExpression {
    const [only, ...more] = this.#readItems(')');
    if (only === undefined) throw new NotPlain();
    return more.length === 0 ? only : { kind: 'list', items: [only, ...more] };
  }

  #readLength(): PlainExpression {
    this.#expectSymbol('(');
    const operand = this.#readExpression();
    this.#expectSymbol(')');
    return { kind: 'length', operand };
  }

  #readItems(closing: ')' | ']'): readonly PlainExpression[] {
    const items = [this.#readExpression()];
    while (this.#takeSymbol(',')) items.push(this.#readExpression());
    this.#expectSymbol(closing);
    return items;
  }

  /** @returns null if no path starts here */
  #readPath(): PlainPath | null {
    if (this.#next.kind !== 'word' || !VARIABLE_NAMES.has(this.#next.text)) return null;
    // VARIABLE_NAMES contains exactly these names.
    const variable = this.#take().text as PathVariable;
    const keys: PathKey[] = [];
    for (;;) {
      if (this.#takeSymbol('.')) {
        keys.push(this.#readAttribute());
      } else if (this.#takeSymbol('[')) {
        keys.push(this.#readKey());
        this.#expectSymbol(']');
      } else {
        return { kind: 'path', variable, keys };
      }
    }
  }

  #readAttribute(): string {
    const { kind, text } = this.#take();
    // Attributes of Python's own objects, and words that cannot be attributes.
    if (kind !== 'word' || text.startsWith('__') || KEYWORDS.has(text)) throw new NotPlain();
    return text;
  }

  #readKey(): PathKey {
    const path = this.#readPath();
    if (path !== null) return path;
    const isNegative = this.#takeSymbol('-');
    const { kind, text } = this.#take();
    if (kind === 'text' && !isNegative) return text;
    if (kind !== 'number' || !LARGEST_INDEX.test(text)) throw new NotPlain();
    return isNegative ? 0 - Number(text) : Number(text);
  }

  #takeNamedConstant(): PlainExpression | null {
    const value = this.#next.kind === 'word' ? NAMED_CONSTANTS.get(this.#next.text) : undefined;
    if (value === undefined) return null;
    this.#position += 1;
    return { kind: 'constant', value };
  }

  get #next(): Token {
    return this.#tokens[this.#position] ?? END;
  }

  #take(): Token {
    const token = this.#next;
    this.#position += 1;
    return token;
  }

  #takeWord(word: string): boolean {
    return this.#takeIf('word', word);
  }

  #takeSymbol(symbol: string): boolean {
    return this.#takeIf('symbol', symbol);
  }

  #takeIf(kind: Token['kind'], text: string): boolean {
    if (this.#next.kind !== kind || this.#next.text !== text) return false;
    this.#position += 1;
    return true;
  }

  #expectSymbol(symbol: string): void {
    if (!this.#takeSymbol(symbol)) throw new NotPlain();
  }
}
