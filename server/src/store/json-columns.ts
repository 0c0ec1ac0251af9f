/** Tags, index fields and failures as the stores keep them: JSON, which holds any name and integers of any length; null for none. */
import { NO_INDEX, NO_TAGS, type IndexFields } from '../engine/values/index-fields.js';
import { readJson, writeJson } from '../engine/values/exact-json.js';
import type { Tags } from '../engine/values/tags.js';
import type { InstanceFailure } from './records/instances.js';

export function tagsText(tags: Tags): string | null {
  return Object.keys(tags).length === 0 ? null : JSON.stringify(tags);
}

export function indexText(index: IndexFields): string | null {
  return Object.keys(index).length === 0 ? null : writeJson(index);
}

/** @param text written by `tagsText` */
export function tagsIn(text: string | null): Tags {
  return text === null ? NO_TAGS : (JSON.parse(text) as Tags);
}

/** @param text written by `indexText` */
export function indexIn(text: string | null): IndexFields {
  // Empty: the stored value was unreadable.
  return text === null || text === '' ? NO_INDEX : (readJson(text) as IndexFields);
}

/** Without the key, which has a column of its own. */
export function failureText(failure: InstanceFailure | null): string | null {
  return failure === null ? null : JSON.stringify([failure.stepId, failure.type, failure.message]);
}

/** @param text written by `failureText` */
export function failureIn(key: string | null, text: string | null): InstanceFailure | null {
  if (key === null) return null;
  const [stepId = '', type = '', message = ''] =
    text === null ? [] : (JSON.parse(text) as readonly string[]);
  return { key, stepId, type, message };
}
