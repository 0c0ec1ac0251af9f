/**
 * Hints for code that failed because of a name or field that Python doesn't have: names from other languages, variables of
 * expressions in a script, missing imports. Reads only the error and its line.
 */
import { findForeignSyntax } from './foreign-syntax.js';
import { maskLiterals } from './masked-code.js';

export interface FailedCode {
  /** The class of the Python exception. */
  readonly type: string;
  readonly message: string;
  /** The expression, or the line of the script. */
  readonly source: string;
  readonly isScript: boolean;
}

/** Longer lines are not read. */
const LENGTH_MAX = 4000;

const UNDEFINED_NAME = /^name '(?<name>\w{1,100})' is not defined/;
const MISSING_FIELD =
  /^(?:'(?<type>\w{1,100})' object has no attribute|there is no field) '(?<name>\w{1,100})'/;

/** The variables of expressions, and common names for a map of inputs. */
const OUTSIDE: ReadonlySet<string> = new Set(
  'data context environment secrets step inputs input params parameters args'.split(' '),
);

/** The modules that expressions have without an import. */
const MODULES: ReadonlySet<string> = new Set('base64 hashlib json math random re uuid'.split(' '));
const CLASSES: ReadonlyMap<string, string> = new Map([
  ['date', 'datetime'],
  ['datetime', 'datetime'],
  ['time', 'datetime'],
  ['timedelta', 'datetime'],
  ['timezone', 'datetime'],
  ['Decimal', 'decimal'],
]);
/** Matches uses of a module where expressions have the class of the same name. */
const OF_MODULE =
  /(?<![\w.])(?:datetime\.(?:date|datetime|time|timedelta|timezone)|time\.(?:gmtime|monotonic|perf_counter|strftime|time))(?!\w)/;

const OBJECTS: ReadonlyMap<string, string> = new Map([
  ['Array', '"Array.isArray(x)" is written "isinstance(x, list)"'],
  ['console', '"console.log(x)" is written "print(x)"'],
  ['Console', '"Console.WriteLine(x)" is written "print(x)"'],
  ['Object', '"Object.keys(x)" is written "list(x)"'],
  ['NaN', '"NaN" is written "float(\'nan\')"'],
]);

const LENGTH = (written: string): string => `".${written}" is written "len(…)"`;
const COMPREHENSION = '"[f(x) for x in items if x]" stands for map and filter';
const SLICE = 'a part of a text or list is written "x[from:to]"';
const CONTAINS = (written: string): string => `".${written}(x)" is written "x in …"`;

/** Fields of strings and lists in other languages. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['length', LENGTH('length')],
  ['Length', LENGTH('Length')],
  ['Count', LENGTH('Count')],
]);
const METHODS: ReadonlyMap<string, string> = new Map([
  ['size', LENGTH('size()')],
  ['count', LENGTH('count()')],
  ['push', '".push(x)" is written ".append(x)"'],
  ['Add', '".Add(x)" is written ".append(x)"'],
  ['concat', '"a.concat(b)" is written "a + b"'],
  ['join', '"items.join(\', \')" is written "\', \'.join(items)"'],
  ['toFixed', '".toFixed(2)" is written "round(…, 2)"'],
  ...['filter', 'forEach', 'map', 'Select', 'Where'].map((name) => [name, COMPREHENSION] as const),
  ...['slice', 'substr', 'substring', 'Substring'].map((name) => [name, SLICE] as const),
  ...['ContainsKey', 'containsKey', 'has', 'hasOwnProperty'].map(
    (name) => [name, CONTAINS(name)] as const,
  ),
]);

/** A hint to append to the error message, or an empty string. */
export function failureHint(failed: FailedCode): string {
  if (failed.source.length > LENGTH_MAX) return '';
  const code = maskLiterals(failed.source);
  if (failed.type === 'NameError') return hintForName(failed, code);
  if (failed.type === 'AttributeError') return hintForField(failed, code);
  return '';
}

function hintForName({ isScript, message }: FailedCode, code: string): string {
  const name = UNDEFINED_NAME.exec(message)?.groups?.['name'];
  if (name === undefined) return '';
  if (isScript && OUTSIDE.has(name)) {
    return '. A script has the inputs of its step as variables, and nothing else: give it the value as an input';
  }
  if (isScript && (MODULES.has(name) || CLASSES.has(name))) {
    const module = CLASSES.get(name);
    const isModule = module === undefined || OF_MODULE.test(code);
    return `. A script imports what it uses: "${isModule ? `import ${name}` : `from ${module} import ${name}`}"`;
  }
  const object = OBJECTS.get(name);
  if (object !== undefined) return inPython(object);
  return foreignPart(code, new RegExp(String.raw`(?<![.\w])${name}(?:\.\w{1,100})?(?:\(\)?)?`));
}

function hintForField({ message }: FailedCode, code: string): string {
  const { name, type } = MISSING_FIELD.exec(message)?.groups ?? {};
  if (name === undefined) return '';
  const use = new RegExp(String.raw`\.\s?${name}(?!\w)(?<call>\s?\()?`).exec(code);
  const isCall = use?.groups?.['call'] !== undefined;
  const method = isCall ? (methodOfList(name, type) ?? METHODS.get(name)) : undefined;
  if (method !== undefined) return inPython(method);
  // A map may have fields of any name, so this one is just missing.
  const field = type === undefined || type === 'dict' ? undefined : FIELDS.get(name);
  if (field !== undefined) return inPython(field);
  if (isCall) {
    const foreign = foreignPart(code, new RegExp(String.raw`\.\s?${name}\s?\(\)?`));
    if (foreign !== '') return foreign;
  }
  return type === 'dict' ? `. A field of a dict is read with ["${name}"] or .get("${name}")` : '';
}

/** Strings have `find`, lists don't. */
function methodOfList(name: string, type: string | undefined): string | undefined {
  const isSearch = type === 'list' && /^indexOf$/i.test(name);
  return isSearch ? `".${name}(x)" is written ".index(x)"` : undefined;
}

function foreignPart(code: string, pattern: RegExp): string {
  const part = pattern.exec(code)?.[0];
  const foreign = part === undefined ? null : findForeignSyntax(part);
  return foreign === null ? '' : `. ${foreign.hint.replace(/\.$/, '')}`;
}

function inPython(hint: string): string {
  return `. In Python, ${hint}`;
}
