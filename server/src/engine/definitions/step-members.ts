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
  'retryJitter',
  'onRetriesExhausted',
  'nonRetryable',
  'timeout',
  'compensateWith',
  'saga',
] as const;

export type DefinitionMember = (typeof DEFINITION_MEMBERS)[number];
export type StepMember = (typeof STEP_MEMBERS)[number];

/** What each member means, in the words of the reference for authors. */
export const DEFINITION_MEMBER_SUMMARIES: Readonly<Record<DefinitionMember, string>> = {
  id: 'Name under which workflows are started',
  version: 'Ignored: the server counts 1, 2, 3 …',
  description: 'For people',
  defaultErrorBehavior:
    'What happens when a step fails and neither it nor its surroundings say otherwise',
  defaultErrorRetryInterval: 'Pause before a retry, for steps without their own',
  steps: 'The first one is where a workflow begins',
};

export const STEP_MEMBER_SUMMARIES: Readonly<Record<StepMember, string>> = {
  id: 'Unique in the whole definition, steps in Do and CompensateWith included',
  stepType: 'One of the step types, or the name of a custom step',
  name: 'For people',
  nextStepId: 'The step that follows',
  selectNextStep: 'Every step whose expression is true follows',
  inputs: 'What goes in',
  outputs: 'What is kept of the result',
  do: 'What a container runs. A plain list of steps is one sequence',
  cancelCondition: 'While it is true, the step is cancelled',
  proceedOnCancel: 'Whether what follows runs after a cancelled step',
  errorBehavior: 'What happens when the step fails',
  retryInterval: 'Pause before a retry',
  maxRetries: 'How often the step is tried again',
  retryBackoff: 'Each pause is this many times the one before, up to a day',
  retryJitter: 'Each pause is longer by a random part of it, up to this fraction',
  onRetriesExhausted:
    'What happens when the last retry has failed, or another attempt cannot succeed',
  nonRetryable: 'Types of errors that are not retried',
  timeout: 'An attempt that takes longer fails',
  compensateWith: 'What undoes the step; the first one is the entry',
  saga: 'Whether a failure inside undoes everything inside',
};
