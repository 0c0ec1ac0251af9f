/** The members of a definition, in the order in which the canonical form lists them. */
export const DEFINITION_MEMBERS = [
  'id',
  'version',
  'description',
  'defaultErrorBehavior',
  'defaultErrorRetryInterval',
  'steps',
] as const;

/** The members of a step, in the order in which the canonical form lists them. */
export const STEP_MEMBERS = [
  'id',
  'stepType',
  'name',
  'nextStepId',
  'selectNextStep',
  'inputs',
  'outputs',
  'do',
  'cancelCondition',
  'proceedOnCancel',
  'errorBehavior',
  'retryInterval',
  'maxRetries',
  'retryBackoff',
  'onRetriesExhausted',
  'timeout',
  'compensateWith',
  'saga',
] as const;

export type DefinitionMember = (typeof DEFINITION_MEMBERS)[number];
export type StepMember = (typeof STEP_MEMBERS)[number];
