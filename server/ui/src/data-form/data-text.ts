/** Start data as text in JSON or YAML. Pure. */
import { parseDocument, Scalar, stringify, visit, type Document } from 'yaml';
import {
  Draft,
  fromJson,
  isList,
  isMembers,
  NumberText,
  parseData,
  writeData,
  type DataMembers,
  type DataValue,
} from './data-value.js';

export type DataFormat = 'json' | 'yaml';

/** @throws Error with a message for the user */
export function readData(text: string, format: DataFormat): DataMembers {
  if (text.trim() === '') return {};
  const value = format === 'json' ? parseData(text) : parseYaml(text);
  if (!isMembers(value)) {
    throw new Error('The data must be an object with named members.');
  }
  return value;
}

/** Null if the text can be read. */
export function dataProblem(text: string, format: DataFormat): string | null {
  try {
    readData(text, format);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function dataText(value: DataMembers, format: DataFormat): string {
  return format === 'json' ? `${writeData(value)}\n` : stringify(toYaml(value), { lineWidth: 0 });
}

function parseYaml(text: string): DataValue {
  const document = parseDocument(text, { intAsBigInt: true, logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`Invalid YAML: ${error.message}`);
  keepFloats(document);
  return fromYaml(document.toJS({ maxAliasCount: 50 }));
}

/** A float such as `1.0` would become an integer, so its text is kept, in JSON notation. */
function keepFloats(document: Document.Parsed): void {
  visit(document, {
    Scalar(_key, node) {
      const { value, source = '' } = node;
      if (typeof value !== 'number') return;
      if (!Number.isFinite(value)) throw new Error(`${source} is not a number in JSON.`);
      node.value = new NumberText(floatText(value, source));
    },
  });
}

function floatText(value: number, source: string): string {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+|[eE])/.test(source)) return source;
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function fromYaml(value: unknown): DataValue {
  return value instanceof NumberText ? value : fromJson(value);
}

/** The value with numbers that YAML writes as integers and floats, as they are. */
function toYaml(value: DataValue): unknown {
  if (value instanceof Draft) throw new Error(value.message);
  if (value instanceof NumberText) return yamlNumber(value.text);
  if (isList(value)) return value.map(toYaml);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, toYaml(member)] as const),
  );
}

function yamlNumber(text: string): unknown {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const scalar = new Scalar(Number(text));
  const decimals = /\.(\d+)$/.exec(text)?.[1];
  if (decimals === undefined) scalar.format = 'EXP';
  else scalar.minFractionDigits = decimals.length;
  return scalar;
}
