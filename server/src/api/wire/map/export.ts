/** Writes the export of a run as JSON, piece by piece: a run may have any number of steps. */
import { writeJson } from '../../../engine/values/exact-json.js';
import { isLight, writeJsonParts } from '../../../engine/values/json-parts.js';
import type { Json } from '../../../engine/values/json.js';
import { inSlices } from '../../../base/slices.js';
import type { InstanceExport } from '../../../runtime/operations/instance-exports.js';
import type * as wire from '../models/export.js';
import { toWorkflowAction } from './control.js';
import { toDebounce } from './debounce.js';
import { toDefinitionDocument } from './definition.js';
import { toStepError, toStepExecution, toWorkflowSummary } from './workflow.js';

/** A text without line breaks. */
export async function* exportText(run: InstanceExport): AsyncGenerator<string, void, undefined> {
  const { data, debounce, lastError, parent } = run.instance;
  const workflow: wire.ExportedWorkflow = {
    ...toWorkflowSummary(run.instance),
    debounce: toDebounce(debounce),
    lastError: lastError === null ? null : toStepError(lastError),
    parent,
  };
  yield `{"workflow":${await textOf(workflow)}`;
  const document = run.definition === null ? null : toDefinitionDocument(run.definition);
  yield `,"definition":${await textOf(document)},"input":${await textOf(run.input)}`;
  yield `,"data":${await textOf(data)},"steps":[`;
  let before = '';
  for await (const steps of run.steps) {
    if (steps.length === 0) continue;
    yield before + (await textOf(steps.map(toStepExecution))).slice(1, -1);
    before = ',';
  }
  yield `],"audit":${await textOf(run.audit.map(toWorkflowAction))}}`;
}

async function textOf(value: unknown): Promise<string> {
  return isLight(value) ? writeJson(value as Json) : inSlices(writeJsonParts(value));
}
