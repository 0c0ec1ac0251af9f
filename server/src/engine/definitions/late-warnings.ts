/**
 * Warnings about expressions: undefined names, literals that look like expressions, changes that are lost, constant conditions.
 * A Python analyzer supplies the facts; this module supplies the messages.
 */
import { quoteText } from '../values/convert-input.js';
import type { Json } from '../values/json.js';
import type { ExamineExpression, ExpressionFacts, ReadPath } from './expression-facts.js';
import { findDashedField } from './foreign/dashed-field.js';
import { findForeignSyntax, foreignHint } from './foreign/foreign-syntax.js';
import { formattedText } from './foreign/templates.js';
import type { ExpressionSource, ExpressionUse, LiteralText } from './parse-state.js';
import type { DocumentWarningCode, ProblemList } from './problem-list.js';
import { suggestName } from './suggest-name.js';

type Warnings = ProblemList<DocumentWarningCode>;

const VARIABLES = ['data', 'context', 'environment'];

/** The spellings of Python's constants in other languages. */
const CONSTANTS = new Map([
  ['true', 'True'],
  ['false', 'False'],
  ['null', 'None'],
  ['nil', 'None'],
  ['none', 'None'],
  ['undefined', 'None'],
]);

const CONTEXT_FIELDS: ReadonlyMap<string, readonly string[] | null> = new Map([
  ['Workflow', ['Id', 'DefinitionId', 'Version', 'Reference', 'StartTime']],
  ['Step', ['Id', 'Attempt', 'IdempotencyKey']],
  ['Compensating', ['StepId', 'Outcome', 'Error']],
  ['Item', null],
  ['Index', null],
  ['Trigger', ['Name', 'Time', 'EventName', 'EventKey', 'EventData']],
]);

const DICT_METHODS: ReadonlySet<string> = new Set(
  'clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '),
);

/** `datetime.now()`, `date.today()`, `datetime.utcnow()`; such text is rare in literals. */
const READS_CLOCK = /\.\s*(?:now|today|utcnow)\s*\(/;

/** @param examine reads a suggested text, to check that it is valid Python */
export function warnAboutExpression(
  expression: ExpressionSource,
  facts: ExpressionFacts,
  warnings: Warnings,
  examine: ExamineExpression,
): void {
  const { pointer, use } = expression;
  if (!warnAboutForeignSyntax(expression, facts, warnings, examine)) {
    warnAboutNames(expression, facts, warnings);
  }
  for (const path of facts.reads) warnAboutPath(path, expression, warnings);
  for (const change of facts.changes) {
    const message = `${change}() only changes a copy. To keep the change, assign the new value in an Output, for example "data.list + [4]".`;
    warnings.add('change_without_effect', pointer, message);
  }
  if (use.gives === 'selection' && facts.constant !== undefined) {
    const isWrittenTrue = expression.source.trim() === 'True';
    if (!isWrittenTrue) warnAboutConstantCondition(facts.constant, pointer, warnings);
  }
  if (use.gives === 'cancellation' && facts.varies && READS_CLOCK.test(expression.source)) {
    const message =
      'A CancelCondition is checked when something happens in the run, not when time passes. To end the step at a time, set its Timeout.';
    warnings.add('condition_on_time', pointer, message);
  }
}

/**
 * Warns about a constant condition other than `True`. `True` is the documented way to take several branches at once; other
 * constants are rarely intentional.
 */
export function warnAboutConstantCondition(value: Json, pointer: string, warnings: Warnings): void {
  const isFalse = value === null || value === false || value === 0 || value === '';
  const message = isFalse
    ? 'This condition is never true, so the step is never selected.'
    : `This condition is a constant that is always true. Compare it with a value, or write True.`;
  warnings.add('constant_condition', pointer, message);
}

/** Python has accepted the expression, but it fails in every run, or means something else. */
function warnAboutForeignSyntax(
  { pointer, source }: ExpressionSource,
  { unknownNames }: ExpressionFacts,
  warnings: Warnings,
  examine: ExamineExpression,
): boolean {
  if (CONSTANTS.has(source.trim().toLowerCase())) return false;
  const foreign = findDashedField(source, unknownNames) ?? findForeignSyntax(source);
  if (foreign === null) return false;
  const { message, suggestion } = foreignHint(
    foreign,
    (text) => examine(text)?.unknownNames.length === 0,
  );
  const code = unknownNames.length > 0 ? 'unknown_name' : 'foreign_syntax';
  warnings.add(code, pointer, message, suggestion);
  return true;
}

function warnAboutNames(
  { pointer, source, use }: ExpressionSource,
  { looksLikeText, reads, unknownNames }: ExpressionFacts,
  warnings: Warnings,
): void {
  const [name, ...others] = unknownNames;
  if (name === undefined) {
    if (reads.some(({ variable }) => variable === 'hook')) {
      warnings.add('unknown_name', pointer, '"hook" is available only in webhooks.');
      return;
    }
    const readsStep = reads.some(({ variable }) => variable === 'step');
    if (!readsStep || use.knowsStep) return;
    const message = '"step" is available only in Outputs and SelectNextStep.';
    warnings.add('unknown_name', pointer, message);
    return;
  }
  const text = source.trim();
  const constant = CONSTANTS.get(text.toLowerCase());
  if (constant !== undefined) {
    const message = `In Python, ${quoteText(text)} is written ${constant}.`;
    warnings.add('unknown_name', pointer, message, constant);
    return;
  }
  const hint = nearest(unknownNames, use);
  const isText = looksLikeText && reads.length === 0 && hint === '';
  if (isText && (use.gives === 'name' || others.length > 0)) {
    const message = `${quoteText(text)} is evaluated as Python, and there is no variable ${listNames(unknownNames)}. For a literal string, write ${quoteText(`'${text}'`)}.`;
    warnings.add('unquoted_text', pointer, message, `'${text}'`);
  } else if (isText && text === name) {
    const message = `${quoteText(text)} is evaluated as a Python variable, and there is no variable of that name. For a literal string, write ${quoteText(`'${text}'`)}; for a field of the data, ${quoteText(`data.${text}`)}.`;
    warnings.add('unknown_name', pointer, message, `'${text}'`);
  } else {
    const message = `There is no variable ${listNames(unknownNames)}. Expressions can use data, context, environment and, in Outputs and SelectNextStep, step.${hint}`;
    const suggestion = /"(\w+)"/.exec(hint)?.[1];
    const fixed =
      suggestion === undefined || others.length > 0 || !/^\w+$/.test(name)
        ? null
        : source.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), suggestion);
    warnings.add('unknown_name', pointer, message, fixed);
  }
}

function nearest(names: readonly string[], use: ExpressionUse): string {
  const candidates = use.knowsStep ? [...VARIABLES, 'step'] : VARIABLES;
  for (const name of names) {
    const hint = suggestName(name, candidates);
    if (hint !== '') return hint;
  }
  return '';
}

const SHOWN_NAMES_MAX = 5;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES_MAX).map((name) => quoteText(name));
  const last = shown.at(-1) ?? '';
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} or ${last}` : last;
}

/** Reading a missing field makes the step fail in every run. */
function warnAboutPath(
  { keys, variable }: ReadPath,
  { pointer, use }: ExpressionSource,
  warnings: Warnings,
): void {
  const [first, second] = keys;
  if (first === undefined || DICT_METHODS.has(first) || first.startsWith('__')) return;
  if (variable === 'step' && use.stepType !== null) {
    const fields = use.stepType.outputs.map(({ name }) => name);
    if (fields.length === 0) {
      const message = `There is no field ${quoteText(`step.${first}`)}: ${use.stepType.name} has no result.`;
      warnings.add('unknown_field', pointer, message);
    } else if (!fields.includes(first)) {
      warnAboutField({ path: `step.${first}`, field: first, fields, pointer }, warnings);
    }
  } else if (variable === 'context') {
    const inner = CONTEXT_FIELDS.get(first);
    if (inner === undefined) {
      const fields = [...CONTEXT_FIELDS.keys()];
      warnAboutField({ path: `context.${first}`, field: first, fields, pointer }, warnings);
    } else if (inner !== null && second !== undefined && !DICT_METHODS.has(second)) {
      if (inner.includes(second)) return;
      const path = `context.${first}.${second}`;
      warnAboutField({ path, field: second, fields: inner, pointer }, warnings);
    }
  }
}

interface MissingField {
  readonly path: string;
  readonly field: string;
  readonly fields: readonly string[];
  readonly pointer: string;
}

function warnAboutField(missing: MissingField, warnings: Warnings): void {
  const { field, fields, path, pointer } = missing;
  const message = `There is no field ${quoteText(path)}; the fields are ${fields.join(', ')}.${suggestName(field, fields)}`;
  warnings.add('unknown_field', pointer, message);
}

/** File names, which look like a field of `data`. */
const FILE_NAME =
  /^\w+\.(?:bin|bz2|conf|csv|db|docx?|gz|html?|ini|jpe?g|jsonl?|log|md|parquet|pdf|png|py|sql|tar|te?xt|tsv|txt|xlsx?|xml|ya?ml|zip)$/i;

/** Longer texts are not read as templates. */
const TEMPLATE_LENGTH_MAX = 1000;

/** Warns about a string under a key without `@` that contains `{{ data.x }}`, which is never replaced. */
export function warnAboutTemplate(
  { isListItem, pointer, text }: LiteralText,
  warnings: Warnings,
): boolean {
  const foreign = text.length > TEMPLATE_LENGTH_MAX ? null : formattedText(text);
  if (foreign === null) return false;
  const key = `@${pointer.slice(pointer.lastIndexOf('/') + 1)}`.replaceAll('~1', '/');
  const python = findForeignSyntax(text)?.python ?? foreign;
  const todo = isListItem
    ? `In an expression, it is written ${quoteText(python)}.`
    : `Write ${quoteText(`${key}: ${python}`)}.`;
  const message = `${quoteText(text)} is a literal string: nothing in it is replaced. ${todo}`;
  warnings.add('missing_at_sign', pointer, message, isListItem ? null : key);
  return true;
}

/** Warns about a string under a key without `@` that is an expression as a whole and reads a variable. */
export function warnAboutLiteral(
  { isListItem, pointer, text }: LiteralText,
  facts: ExpressionFacts,
  warnings: Warnings,
): void {
  const readsField = facts.reads.some(({ keys }) => keys.length > 0);
  if (!readsField || facts.unknownNames.length > 0 || FILE_NAME.test(text.trim())) return;
  if (isListItem) {
    const message = `${quoteText(text)} is a literal string, because the items of a list are constants. For a computed list, write one expression, for example "[data.a, data.b]".`;
    warnings.add('missing_at_sign', pointer, message);
    return;
  }
  const key = `@${pointer.slice(pointer.lastIndexOf('/') + 1)}`.replaceAll('~1', '/');
  const message = `${quoteText(text)} is a literal string, because in a map only values of keys that start with "@" are evaluated. To evaluate it, write the key as ${quoteText(key)}.`;
  warnings.add('missing_at_sign', pointer, message, key);
}
