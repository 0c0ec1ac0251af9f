/** Converts problems of a document to their wire type, with their position in the posted text. */
import type { Request } from 'express';
import type { DocumentProblem } from '../../../engine/model/definition.js';
import type { ProblemItem } from '../models/problem.js';
import { contextOf } from '../../http/request-context.js';

export function itemsWithPosition(
  request: Request,
  problems: readonly DocumentProblem[],
): ProblemItem[] {
  const { body } = contextOf(request);
  if (problems.length === 0) return [];
  const locate = body?.locator();
  return problems.map(({ code, message, place, pointer, suggestion }) => ({
    code,
    message,
    ...(place ?? { pointer, ...locate?.(pointer) }),
    ...(suggestion === undefined ? {} : { suggestion }),
  }));
}
