/**
 * What is wrong with the fields of a cron expression, in the words of the expression: the library names the value that it has
 * computed (`13` in the month is reported as 12, `1-99` as 60).
 */

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

const SECOND: Field = { name: 'second', from: 0, to: 59, names: [] };
const FIELDS: readonly Field[] = [
  { name: 'minute', from: 0, to: 59, names: [] },
  { name: 'hour', from: 0, to: 23, names: [] },
  { name: 'day of the month', from: 1, to: 31, names: [] },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'weekday', from: 0, to: 7, names: DAYS },
];

/** Null if nothing is found; the library knows the rest of the syntax. */
export function cronFieldProblem(expression: string): string | null {
  const texts = expression.split(/\s+/);
  const fields = texts.length === 6 ? [SECOND, ...FIELDS] : FIELDS;
  for (const [index, text] of texts.entries()) {
    const field = fields[index];
    if (field === undefined) return null;
    for (const entry of text.split(',')) {
      const problem = entryProblem(entry, field, text);
      if (problem !== null) return problem;
    }
  }
  return null;
}

/** Whether it fires in every hour, or in every n-th: then it follows real time when clocks are set back. */
export function hasAnyHour(expression: string): boolean {
  if (expression.startsWith('@')) return expression.toLowerCase() === '@hourly';
  return expression.split(/\s+/).at(-4)?.startsWith('*') === true;
}

function entryProblem(entry: string, field: Field, text: string): string | null {
  if (entry === '') return `the ${field.name} '${text}' has an empty entry`;
  const [values = '', step] = entry.split('/');
  if (step !== undefined && !isStep(step, field)) {
    return `the step '${step}' in the ${field.name} '${entry}' must be a whole number from 1 to ${stepMax(field)}`;
  }
  const numbers: number[] = [];
  for (const value of values.split('-')) {
    const number = numberOf(value, field);
    if (number === null) return `'${value}' is no ${field.name}; ${rangeOf(field)}`;
    if (number !== undefined) numbers.push(number);
  }
  const [from, to] = numbers;
  if (from === undefined || to === undefined || from <= to) return null;
  return `the ${field.name} '${values}' runs backwards`;
}

function isStep(step: string, field: Field): boolean {
  return /^\d{1,9}$/.test(step) && Number(step) >= 1 && Number(step) <= stepMax(field);
}

function stepMax({ from, to }: Field): number {
  return to - from + 1;
}

/** Null for what cannot be a value; undefined for what only the library reads, such as `L` and `MON#2`. */
function numberOf(value: string, { from, names, to }: Field): number | null | undefined {
  if (/^\d+$/.test(value)) {
    const number = Number(value);
    return number >= from && number <= to ? number : null;
  }
  if (!/^[A-Za-z]{2,}$/.test(value)) return undefined;
  // FRIL is the last Friday.
  const name = value.toUpperCase().replace(/^(\w{3})L$/, '$1');
  const index = names.indexOf(name);
  return index < 0 ? null : from + index;
}

function rangeOf({ from, names, to }: Field): string {
  const numbers = `it must be from ${from} to ${to}`;
  return names.length === 0 ? numbers : `${numbers}, or a name such as ${names[1] ?? ''}`;
}
