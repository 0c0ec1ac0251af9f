/** Formats a definition in JSON. Numbers keep all their digits. */
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import { FormatProblem } from './format-problem.js';
import { hasSteps, inOrder } from './member-order.js';

const DEPTH_MAX = 100;

/** @throws FormatProblem */
export function formatJson(text: string): string {
  let value: Json;
  try {
    value = readJson(text);
  } catch (error) {
    throw new FormatProblem(`Invalid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (!isJsonObject(value)) return text;
  return `${writeJson(orderObject(value, 'definition', 0), 2)}\n`;
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
