/**
 * Finds suspicious parts of an expression without running it: undefined names, and changes without an effect. If in
 * doubt, it reports nothing. It follows Python's scope rules, with two simplifications that can only make more names
 * known: a name bound by `:=` counts as bound everywhere in the expression, and names with two leading underscores are
 * always known.
 *
 *  XE1 The work is bounded by the length of the source, which is limited.
 */
import type { ExpressionFacts, ReadPath } from '../../engine/definitions/expression-facts.js';
import type { Json } from '../../engine/values/json.js';
import { evaluatePlain } from './evaluate-plain-expression.js';
import { EXPRESSION_NAMES, VARYING_NAMES } from './known-names.js';
import { parsePython, type SyntaxNode } from './parse-python.js';
import { prepareExpression } from './prepare-expression.js';
import { VARIABLE_NAMES } from './python-names.js';
import { readPlainExpression } from './read-plain-expression.js';

/** Longer sources are not examined. Nobody writes them by hand, and the parser's time is not linear for all sources. */
const MAX_LENGTH = 4_000;
const MAX_DEPTH = 80;

/** Methods of lists, dicts and sets that change the object. */
const CHANGING_METHODS: ReadonlySet<string> = new Set(
  (
    'append extend insert remove pop clear sort reverse update setdefault popitem add discard ' +
    'difference_update intersection_update symmetric_difference_update'
  ).split(' '),
);

const COMPREHENSIONS: ReadonlySet<string> = new Set([
  'ArrayComprehensionExpression',
  'SetComprehensionExpression',
  'DictionaryComprehensionExpression',
  'ComprehensionExpression',
]);

/**
 * Words with punctuation between them. Only if the words are unknown names is this plain text; `a+b` may be another
 * kind of mistake.
 */
const TEXT = /^[\p{L}_][\p{L}\p{N}_]*(?:[-./: ]+[\p{L}\p{N}_]+)*$/u;

type Scope = ReadonlySet<string>;

/** @returns null if the source is not Python, or cannot be judged */
export function examineExpression(source: string): ExpressionFacts | null {
  if (source.length > MAX_LENGTH) return null;
  const { text } = prepareExpression(source);
  const statement = parsePython(text)?.firstChild;
  if (statement?.name !== 'ExpressionStatement' || statement.nextSibling !== null) return null;
  const examiner = new Examiner(text);
  try {
    examiner.examine(statement);
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  }
  const constant = examiner.reads.length === 0 ? constantOf(text) : undefined;
  return {
    unknownNames: [...examiner.unknownNames],
    looksLikeText: TEXT.test(text),
    reads: examiner.reads,
    changes: [...examiner.changes],
    varies: examiner.varies,
    ...(constant === undefined ? {} : { constant }),
  };
}

function constantOf(text: string): Json | undefined {
  const plain = readPlainExpression(text);
  return plain === null
    ? undefined
    : evaluatePlain(plain, { data: {}, context: {}, environment: {} });
}

class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

class Examiner {
  readonly unknownNames = new Set<string>();
  readonly reads: ReadPath[] = [];
  readonly changes = new Set<string>();
  varies = false;
  readonly #text: string;
  readonly #assigned = new Set<string>();
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  examine(root: SyntaxNode): void {
    this.#collectAssigned(root);
    this.#visit(root, this.#assigned);
  }

  #collectAssigned(node: SyntaxNode): void {
    this.#deeper(() => {
      const target = node.name === 'NamedExpression' ? node.firstChild : null;
      if (target !== null) this.#assigned.add(this.#textOf(target));
      for (const child of childrenOf(node)) this.#collectAssigned(child);
    });
  }

  #deeper(work: () => void): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new TooDeep();
    work();
    this.#depth -= 1;
  }

  #visit(node: SyntaxNode, scope: Scope): void {
    this.#deeper(() => {
      if (node.name === 'VariableName') this.#readName(this.#textOf(node), scope);
      else if (node.name === 'MemberExpression') this.#readMember(node, scope);
      else if (node.name === 'CallExpression') this.#readCall(node, scope);
      else if (node.name === 'ArgList') this.#readArguments(node, scope);
      else if (node.name === 'LambdaExpression') this.#readLambda(node, scope);
      else if (COMPREHENSIONS.has(node.name)) this.#readComprehension(childrenOf(node), scope);
      else for (const child of childrenOf(node)) this.#visit(child, scope);
    });
  }

  #readName(name: string, scope: Scope): void {
    if (scope.has(name) || name.startsWith('__')) return;
    if (VARIABLE_NAMES.has(name)) this.reads.push({ variable: name, keys: [] });
    else if (VARYING_NAMES.has(name)) this.varies = true;
    else if (!EXPRESSION_NAMES.has(name)) this.unknownNames.add(name);
  }

  /** `data.a["b"][i]`: one path up to the first computed key, plus the reads inside the computed keys. */
  #readMember(node: SyntaxNode, scope: Scope): void {
    const links: SyntaxNode[] = [];
    let root: SyntaxNode = node;
    while (root.name === 'MemberExpression' && root.firstChild !== null) {
      links.unshift(root);
      root = root.firstChild;
    }
    const keys: string[] = [];
    let isKnown = true;
    for (const link of links) {
      const [, opening, ...rest] = childrenOf(link);
      const key = opening?.name === '.' ? this.#attribute(rest[0]) : this.#literalKey(rest);
      if (key === null) isKnown = false;
      else if (isKnown) keys.push(key);
      if (opening?.name === '[') for (const part of rest) this.#visit(part, scope);
    }
    const variable = this.#textOf(root);
    const isVariable = root.name === 'VariableName' && VARIABLE_NAMES.has(variable);
    if (isVariable && !scope.has(variable)) this.reads.push({ variable, keys });
    else this.#visit(root, scope);
  }

  #attribute(node: SyntaxNode | undefined): string | null {
    return node?.name === 'PropertyName' ? this.#textOf(node) : null;
  }

  #literalKey([key, ...rest]: readonly SyntaxNode[]): string | null {
    if (key?.name !== 'String' || rest.length !== 1) return null;
    return /^(?:"([^"\\]*)"|'([^'\\]*)')$/.exec(this.#textOf(key))?.slice(1).join('') ?? null;
  }

  #readCall(node: SyntaxNode, scope: Scope): void {
    const callee = node.firstChild;
    const method = callee?.name === 'MemberExpression' ? callee.lastChild : null;
    const isChange = method?.name === 'PropertyName' && CHANGING_METHODS.has(this.#textOf(method));
    if (isChange && callee !== null && this.#isPathOfVariable(callee, scope)) {
      this.changes.add(this.#textOf(callee));
    }
    for (const child of childrenOf(node)) this.#visit(child, scope);
  }

  /** Whether the expression is a path of a variable: the result of a call, for example, is not part of one. */
  #isPathOfVariable(node: SyntaxNode, scope: Scope): boolean {
    let root: SyntaxNode | null = node;
    while (root?.name === 'MemberExpression') {
      // `data.l[1:]` is a copy.
      const [, opening, ...rest] = childrenOf(root);
      if (opening?.name === '[' && rest.some(({ name }) => name === ':')) return false;
      root = root.firstChild;
    }
    const name = root?.name === 'VariableName' ? this.#textOf(root) : '';
    return VARIABLE_NAMES.has(name) && !scope.has(name);
  }

  #readArguments(node: SyntaxNode, scope: Scope): void {
    const parts = childrenOf(node);
    if (parts.some(({ name }) => name === 'for')) {
      this.#readComprehension(parts, scope);
      return;
    }
    for (const [index, part] of parts.entries()) {
      const next = parts[index + 1];
      const isKeyword =
        part.name === 'VariableName' && next?.name === 'AssignOp' && this.#textOf(next) === '=';
      if (!isKeyword) this.#visit(part, scope);
    }
  }

  #readLambda(node: SyntaxNode, scope: Scope): void {
    const inner = new Set(scope);
    for (const part of childrenOf(node)) {
      if (part.name !== 'ParamList') {
        this.#visit(part, inner);
        continue;
      }
      let isDefault = false;
      for (const parameter of childrenOf(part)) {
        if (parameter.name === ',') isDefault = false;
        else if (parameter.name === 'AssignOp') isDefault = true;
        else if (isDefault) this.#visit(parameter, scope);
        else if (parameter.name === 'VariableName') inner.add(this.#textOf(parameter));
      }
    }
  }

  /** The flat list of children: element, then `for` targets `in` iterable, `if` condition, and so on. */
  #readComprehension(parts: readonly SyntaxNode[], scope: Scope): void {
    const inner = new Set(scope);
    const elements: SyntaxNode[] = [];
    let place: 'element' | 'target' | 'iterable' | 'condition' = 'element';
    let clauses = 0;
    for (const part of parts) {
      if (part.name === 'for') {
        place = 'target';
        clauses += 1;
      } else if (part.name === 'in' && place === 'target') place = 'iterable';
      else if (part.name === 'if') place = 'condition';
      else if (place === 'element') elements.push(part);
      else if (place === 'target') this.#bind(part, inner);
      // Only the first iterable is evaluated outside.
      else this.#visit(part, place === 'iterable' && clauses === 1 ? scope : inner);
    }
    for (const element of elements) this.#visit(element, inner);
  }

  #bind(target: SyntaxNode, scope: Set<string>): void {
    this.#deeper(() => {
      if (target.name === 'VariableName') scope.add(this.#textOf(target));
      for (const child of childrenOf(target)) this.#bind(child, scope);
    });
  }

  #textOf(node: SyntaxNode): string {
    return this.#text.slice(node.from, node.to);
  }
}
