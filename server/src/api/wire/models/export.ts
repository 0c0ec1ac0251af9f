/** The wire types of run exports. */
import type { WorkflowAction } from './control.js';
import type { Debounce } from './debounce.js';
import type { DefinitionDocument } from './definition.js';
import type { DataObject } from './json-value.js';
import type { StepExecution } from './step-execution.js';
import type { StepError, WorkflowParent, WorkflowSummary } from './workflow.js';

/**
 * A run without its data.
 */
export interface ExportedWorkflow extends WorkflowSummary {
  /**
   * Null unless the run was started with `debounce`.
   */
  debounce: Debounce | null;
  lastError: StepError | null;
  parent: WorkflowParent | null;
}

/**
 * Everything that the server knows about a run.
 */
export interface WorkflowExport {
  workflow: ExportedWorkflow;
  /**
   * The definition version that the run uses; null if it can't be found.
   */
  definition: DefinitionDocument | null;
  /**
   * The data that the run was started with; null if it was started before the server kept inputs.
   */
  input: DataObject | null;
  data: DataObject;
  /**
   * The ended executions in order, then the open ones.
   */
  steps: StepExecution[];
  /**
   * The actions on the run, the newest first.
   */
  audit: WorkflowAction[];
}
