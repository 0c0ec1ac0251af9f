/** Converts document problems to their wire type, with their position in the posted text. */
import type { Request } from 'express';
import { TOO_MANY_PROBLEMS } from '../../../engine/definitions/problem-list.js';
import type { DocumentProblem } from '../../../engine/model/definition.js';
import type { ProblemItem } from '../models/problem.js';
import { contextOf, type TextPosition } from '../../http/request-context.js';

/** In text order, for readers who go from top to bottom. */
export function itemsWithPosition(
  request: Request,
  problems: readonly DocumentProblem[],
): ProblemItem[] {
  const { body } = contextOf(request);
  if (problems.length === 0) return [];
  const locate = body?.locator();
  return problems
    .map((problem) => problemItem(problem, locate?.(problem.pointer)))
    .toSorted(byPlace);
}

/** The note about omitted problems comes last. */
function byPlace(one: ProblemItem, other: ProblemItem): number {
  const rest = Number(one.code === TOO_MANY_PROBLEMS) - Number(other.code === TOO_MANY_PROBLEMS);
  const lines = (one.line ?? Infinity) - (other.line ?? Infinity);
  // NaN: neither of them has a position.
  return rest || lines || (one.column ?? 0) - (other.column ?? 0);
}

/** @param position in the posted text, if there is one */
export function problemItem(
  { code, executionIds, message, place, pointer, suggestion }: DocumentProblem,
  position: TextPosition | null = null,
): ProblemItem {
  return {
    code,
    message,
    ...(place ?? { pointer, ...position }),
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(executionIds === undefined ? {} : { executionIds: [...executionIds] }),
  };
}
