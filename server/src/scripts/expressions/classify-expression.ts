/**
 * Decides, by parsing only, whether an expression could leave anything behind in an interpreter, and which parts of the
 * variables it reads. The server decides this itself, because an interpreter that runs unproven code cannot be trusted.
 *
 *  C1 Closed world: an unknown node, name, method, keyword or character makes the expression impure. That is always safe;
 *     impure expressions merely cost a restored interpreter.
 *  C2 A pure expression calls only what python-names.ts lists, and nothing that it calls can call something else.
 *  C3 A bound name never means anything else: it is no builtin and no variable, and is used only inside its comprehension.
 *  C4 If this parser and CPython could read a source differently (unusual literals, control characters, letters that
 *     Unicode normalization changes), the expression is impure.
 */
import { parsePython, type SyntaxNode } from './parse-python.js';
import {
  DICT_METHODS,
  INTROSPECTION,
  PURE_CONSTANTS,
  PURE_FUNCTIONS,
  PURE_METHOD_KEYWORDS,
  PURE_METHODS,
  PURE_QUALIFIED_FUNCTIONS,
  PURE_TYPES,
  RESERVED_NAMES,
  VARIABLE_NAMES,
  type CallShape,
} from './python-names.js';
import {
  COMPARISONS,
  COMPREHENSIONS,
  ESCAPED_STRING,
  FORMAT_SPEC,
  FORMAT_STRING,
  GROUPS,
  IDENTIFIER,
  KNOWN_CHARACTERS,
  OPERATORS,
  SIMPLE_NUMBER,
  SIMPLE_STRING,
  TOKENS,
} from './pure-syntax.js';

/** `data.a["b"]` is `{ variable: 'data', keys: ['a', 'b'] }`; an empty list of keys means the whole variable. */
export interface VariablePath {
  readonly variable: string;
  readonly keys: readonly string[];
}

export type Classification =
  { readonly pure: true; readonly reads: readonly VariablePath[] } | { readonly pure: false };

type Scope = ReadonlySet<string>;

const IMPURE: Classification = { pure: false };
const LENGTH_MAX = 10_000;
const DEPTH_MAX = 60;
const NODES_MAX = 4_000;

export function classifyExpression(text: string): Classification {
  if (text.length > LENGTH_MAX || !KNOWN_CHARACTERS.test(text)) return IMPURE;
  // A line continued with a backslash.
  if (text.includes('\\\n')) return IMPURE;
  const statement = parsePython(text)?.firstChild;
  if (statement?.name !== 'ExpressionStatement' || statement.nextSibling !== null) return IMPURE;
  const [expression, ...more] = childrenOf(statement);
  if (expression === undefined || more.length > 0) return IMPURE;
  const judge = new Judge(text);
  return judge.isPure(expression, new Set()) ? { pure: true, reads: judge.reads } : IMPURE;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** Walks a tree; every method returns whether the node is pure. */
class Judge {
  readonly #text: string;

  readonly reads: VariablePath[] = [];
  #depth = 0;
  #nodes = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isPure(node: SyntaxNode, scope: Scope): boolean {
    this.#nodes += 1;
    if (this.#nodes > NODES_MAX || this.#depth >= DEPTH_MAX) return false;
    this.#depth += 1;
    const pure = this.#judge(node, scope);
    this.#depth -= 1;
    return pure;
  }

  #judge(node: SyntaxNode, scope: Scope): boolean {
    const { name } = node;
    if (GROUPS.has(name)) return this.#areParts(childrenOf(node), scope);
    if (COMPREHENSIONS.has(name)) return this.#isComprehension(childrenOf(node), scope);
    switch (name) {
      case 'Boolean':
      case 'None':
        return true;
      case 'Number':
        return SIMPLE_NUMBER.test(this.#textOf(node));
      case 'String':
        return ESCAPED_STRING.test(this.#textOf(node));
      case 'FormatString':
        return this.#isFormatString(node, scope);
      case 'VariableName':
        return this.#isVariable(node, scope);
      case 'MemberExpression':
        return this.#isMember(node, scope);
      case 'CallExpression':
        return this.#isCall(node, scope);
      default:
        return false;
    }
  }

  /** Operators and brackets with expressions between them. */
  #areParts(parts: readonly SyntaxNode[], scope: Scope): boolean {
    return parts.every((part) => this.#isToken(part) || this.isPure(part, scope));
  }

  #isToken(node: SyntaxNode): boolean {
    if (OPERATORS.has(node.name)) {
      // `<>` is Python 2.
      return node.name !== 'CompareOp' || COMPARISONS.has(this.#textOf(node));
    }
    return TOKENS.has(node.name) && node.firstChild === null;
  }

  #isVariable(node: SyntaxNode, scope: Scope): boolean {
    const name = this.#textOf(node);
    if (scope.has(name)) return true;
    if (!VARIABLE_NAMES.has(name)) return false;
    this.reads.push({ variable: name, keys: [] });
    return true;
  }

  /** `a.b`, `a["b"]`, `a[i]`, `a[1:2]`, and chains of them. */
  #isMember(node: SyntaxNode, scope: Scope): boolean {
    if (PURE_CONSTANTS.has(this.#textOf(node))) return this.#isFree(node.firstChild, scope);
    const keys: (string | null)[] = [];
    let root: SyntaxNode = node;
    while (root.name === 'MemberExpression') {
      const object = root.firstChild;
      const key = this.#readKey(root, scope);
      if (object === null || key === undefined) return false;
      keys.unshift(key);
      root = object;
    }
    const variable = this.#textOf(root);
    if (root.name !== 'VariableName' || scope.has(variable) || !VARIABLE_NAMES.has(variable)) {
      return this.isPure(root, scope);
    }
    // A method reads the whole object, and so does a key that only Python can compute.
    const end = keys.findIndex((key) => key === null || DICT_METHODS.has(key));
    const known = keys.slice(0, end === -1 ? keys.length : end);
    this.reads.push({ variable, keys: known.filter((key) => key !== null) });
    return true;
  }

  /** @returns the key of one link of a chain: null if it is computed, undefined if it is not pure */
  #readKey(member: SyntaxNode, scope: Scope): string | null | undefined {
    const [, opening, key, ...rest] = childrenOf(member);
    if (opening === undefined || key === undefined) return undefined;
    if (opening.name === '.') return rest.length === 0 ? this.#readAttribute(key) : undefined;
    if (opening.name !== '[') return undefined;
    const literal = rest.length === 1 ? this.#readSimpleString(key) : null;
    if (literal !== null) return literal;
    return this.#areParts([key, ...rest], scope) ? null : undefined;
  }

  #readAttribute(node: SyntaxNode): string | undefined {
    const name = this.#textOf(node);
    const known = node.name === 'PropertyName' && IDENTIFIER.test(name);
    return known && !INTROSPECTION.test(name) ? name : undefined;
  }

  #readSimpleString(node: SyntaxNode): string | null {
    const text = this.#textOf(node);
    const simple = node.name === 'String' && SIMPLE_STRING.test(text) && !text.includes('\\');
    return simple ? text.slice(1, -1) : null;
  }

  #isCall(node: SyntaxNode, scope: Scope): boolean {
    const [callee, argumentList, ...rest] = childrenOf(node);
    if (callee === undefined || argumentList?.name !== 'ArgList' || rest.length > 0) return false;
    if (callee.name === 'VariableName') return this.#isFunctionCall(callee, argumentList, scope);
    if (callee.name !== 'MemberExpression') return false;
    const qualified = PURE_QUALIFIED_FUNCTIONS.get(this.#textOf(callee));
    if (qualified !== undefined) {
      return (
        this.#isFree(callee.firstChild, scope) && this.#areArguments(argumentList, qualified, scope)
      );
    }
    return this.#isMethodCall(callee, argumentList, scope);
  }

  /** Whether a name has its global meaning here. */
  #isFree(node: SyntaxNode | null, scope: Scope): boolean {
    return node?.name === 'VariableName' && !scope.has(this.#textOf(node));
  }

  #isFunctionCall(callee: SyntaxNode, argumentList: SyntaxNode, scope: Scope): boolean {
    const name = this.#textOf(callee);
    const shape = PURE_FUNCTIONS.get(name);
    if (shape === undefined || !this.#isFree(callee, scope)) return false;
    if (name === 'isinstance') return this.#areInstanceArguments(argumentList, scope);
    return this.#areArguments(argumentList, shape, scope);
  }

  #isMethodCall(callee: SyntaxNode, argumentList: SyntaxNode, scope: Scope): boolean {
    const [object, dot, property, ...rest] = childrenOf(callee);
    if (object === undefined || dot?.name !== '.' || property === undefined) return false;
    const method = this.#readAttribute(property);
    if (rest.length > 0 || method === undefined || !PURE_METHODS.has(method)) return false;
    const shape: CallShape = { keywords: [...PURE_METHOD_KEYWORDS] };
    const readsBefore = this.reads.length;
    if (!this.isPure(object, scope)) return false;
    if (method === 'get') this.#narrowRead(object, argumentList, { readsBefore, scope });
    return this.#areArguments(argumentList, shape, scope);
  }

  /**
   * `data.a.get("b", 0)` reads only `data.a.b` (and a field called `get`, which would take precedence over the method).
   */
  #narrowRead(
    object: SyntaxNode,
    argumentList: SyntaxNode,
    { readsBefore, scope }: { readsBefore: number; scope: Scope },
  ): void {
    const first = childrenOf(argumentList)[1];
    const key = first === undefined ? null : this.#readSimpleString(first);
    const read = this.reads[readsBefore];
    if (key === null || read === undefined || this.reads.length !== readsBefore + 1) return;
    if (!this.#isPlainChain(object, read, scope)) return;
    this.reads.length = readsBefore;
    for (const last of [key, 'get']) {
      this.reads.push({ variable: read.variable, keys: [...read.keys, last] });
    }
  }

  /** Whether a node is a variable followed only by the members in `read`: none was left out. */
  #isPlainChain(node: SyntaxNode, read: VariablePath, scope: Scope): boolean {
    let links = 0;
    let root: SyntaxNode | null = node;
    for (; root?.name === 'MemberExpression'; root = root.firstChild) links += 1;
    return this.#isFree(root, scope) && links === read.keys.length;
  }

  #areArguments(argumentList: SyntaxNode, shape: CallShape, scope: Scope): boolean {
    const parts = childrenOf(argumentList).slice(1, -1);
    if (parts.some((part) => part.name === 'for')) {
      return this.#isComprehension(childrenOf(argumentList), scope);
    }
    const keywords = shape.keywords ?? [];
    let positional = 0;
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index];
      if (part === undefined || part.name === '**') return false;
      if (part.name === ',' || part.name === '*') continue;
      const value = parts[index + 2];
      const operator = parts[index + 1];
      if (operator?.name !== 'AssignOp') {
        positional += 1;
        if (!this.isPure(part, scope)) return false;
        continue;
      }
      const keyword = this.#textOf(part);
      const allowed = keywords.includes(keyword) || keywords.includes('*');
      // `:=` would bind a name.
      if (this.#textOf(operator) !== '=' || !allowed) return false;
      if (!IDENTIFIER.test(keyword) || value === undefined) return false;
      if (!this.isPure(value, scope)) return false;
      index += 2;
    }
    return positional <= (shape.maxPositional ?? Infinity);
  }

  /** `isinstance(x, str)` and `isinstance(x, (int, float))`. */
  #areInstanceArguments(argumentList: SyntaxNode, scope: Scope): boolean {
    const [value, comma, types, ...rest] = childrenOf(argumentList).slice(1, -1);
    if (value === undefined || comma?.name !== ',' || types === undefined || rest.length > 0) {
      return false;
    }
    const named = types.name === 'TupleExpression' ? childrenOf(types) : [types];
    const areTypes = named.every(
      (part) =>
        ['(', ',', ')'].includes(part.name) ||
        (this.#isFree(part, scope) && PURE_TYPES.has(this.#textOf(part))),
    );
    return areTypes && this.isPure(value, scope);
  }

  /**
   * The flat list of children of a comprehension: element, then `for` targets `in` iterable, `if` condition, and so on.
   */
  #isComprehension(parts: readonly SyntaxNode[], scope: Scope): boolean {
    const inner = new Set(scope);
    const outside = new Set<SyntaxNode>();
    const targets = new Set<SyntaxNode>();
    let isTarget = false;
    let clauses = 0;
    for (const [index, part] of parts.entries()) {
      if (part.name === 'async') return false;
      if (part.name === 'for') {
        clauses += 1;
        isTarget = true;
      } else if (isTarget && part.name === 'in') {
        isTarget = false;
        const iterable = parts[index + 1];
        // The first iterable is evaluated before any name is bound.
        if (clauses === 1 && iterable !== undefined) outside.add(iterable);
      } else if (isTarget) {
        targets.add(part);
        if (!this.#bind(part, inner)) return false;
      }
    }
    return parts.every((part) => {
      if (targets.has(part) || part.name === 'for') return true;
      return this.#isToken(part) || this.isPure(part, outside.has(part) ? scope : inner);
    });
  }

  /** Adds the names of a target to the scope. Anything but plain names (`for data.x in`) would be an assignment. */
  #bind(target: SyntaxNode, scope: Set<string>): boolean {
    if (['(', ')', ','].includes(target.name)) return true;
    if (['TupleExpression', 'ParenthesizedExpression'].includes(target.name)) {
      return childrenOf(target).every((part) => this.#bind(part, scope));
    }
    const name = this.#textOf(target);
    if (target.name !== 'VariableName' || !IDENTIFIER.test(name)) return false;
    if (RESERVED_NAMES.has(name)) return false;
    scope.add(name);
    return true;
  }

  #isFormatString(node: SyntaxNode, scope: Scope): boolean {
    const text = this.#textOf(node);
    if (!FORMAT_STRING.test(text)) return false;
    let literal = '';
    let end = node.from;
    for (const part of childrenOf(node)) {
      literal += this.#text.slice(end, part.from);
      end = part.to;
      if (part.name !== 'FormatReplacement' || !this.#isReplacement(part, scope)) return false;
    }
    literal += this.#text.slice(end, node.to);
    // Doubled braces are rare, and the two parsers could read them differently.
    return !/[{}]/.test(literal);
  }

  #isReplacement(node: SyntaxNode, scope: Scope): boolean {
    const [opening, value, ...rest] = childrenOf(node);
    const closing = rest.pop();
    if (opening?.name !== '{' || closing?.name !== '}' || value === undefined) return false;
    return this.isPure(value, scope) && rest.every((part) => this.#isFormatDetail(part));
  }

  #isFormatDetail(node: SyntaxNode): boolean {
    const text = this.#textOf(node);
    if (node.name === 'FormatConversion') return /^![rsa]$/.test(text);
    return node.name === 'FormatSpec' && FORMAT_SPEC.test(text);
  }

  #textOf(node: SyntaxNode): string {
    return this.#text.slice(node.from, node.to);
  }
}
