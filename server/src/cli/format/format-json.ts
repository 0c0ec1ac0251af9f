/** Formats a definition in JSON. Numbers keep all their digits. */
import { isDeepStrictEqual } from 'node:util';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { FormatProblem } from './format-problem.js';
import { hasSteps, inOrder } from './member-order.js';
import { layOut, type Style } from './prettier.js';

const DEPTH_MAX = 100;

/** @param style the project's style; null if unknown. @throws FormatProblem */
export async function formatJson(text: string, style: Style | null): Promise<string> {
  const value = read(text);
  if (!isJsonObject(value)) return text;
  const ordered = orderObject(value, 'definition', 0);
  // The author's line breaks are kept unless members move.
  const isOrdered = writeJson(ordered) === writeJson(value);
  const formatted = await layOut(isOrdered ? text : writeJson(ordered, 2), 'json', style);
  if (isDeepStrictEqual(read(formatted), value)) return formatted;
  throw new FormatProblem('it cannot be formatted without changing its meaning');
}

function read(text: string): Json {
  try {
    return readJson(text);
  } catch (error) {
    throw new FormatProblem(`Invalid JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

function orderObject(object: JsonObject, place: 'definition' | 'step', depth: number): JsonObject {
  if (depth > DEPTH_MAX) throw new FormatProblem('its steps are nested too deeply');
  const members = inOrder(Object.entries(object), place, ([name]) => name);
  return Object.fromEntries(
    members.map(([name, value]) => [name, hasSteps(name) ? orderSteps(value, depth) : value]),
  );
}

function orderSteps(value: Json, depth: number): Json {
  if (isJsonObject(value)) return orderObject(value, 'step', depth + 1);
  return Array.isArray(value)
    ? (value as readonly Json[]).map((item) => orderSteps(item, depth + 1))
    : value;
}
