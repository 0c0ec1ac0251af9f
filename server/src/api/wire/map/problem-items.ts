/** Converts problems of a document to their wire type, with their position in the posted text. */
import type { Request } from 'express';
import type { DocumentProblem } from '../../../engine/model/definition.js';
import type { ProblemItem } from '../models/problem.js';
import { contextOf, type TextPosition } from '../../http/request-context.js';

export function itemsWithPosition(
  request: Request,
  problems: readonly DocumentProblem[],
): ProblemItem[] {
  const { body } = contextOf(request);
  if (problems.length === 0) return [];
  const locate = body?.locator();
  return problems.map((problem) => problemItem(problem, locate?.(problem.pointer)));
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
