/** The members of a definition, in canonical order. */
export const DEFINITION_MEMBERS = [
  'id',
  'version',
  'disabled',
  'origin',
  'description',
  'defaultErrorBehavior',
  'defaultErrorRetryInterval',
  'input',
  'index',
  'tags',
  'retention',
  'steps',
] as const;

/** The members of a step, in canonical order. */
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

/** The meaning of each member, in the words of the reference for authors. */
export const DEFINITION_MEMBER_SUMMARIES: Readonly<Record<DefinitionMember, string>> = {
  id: 'Name by which runs are started',
  version: 'Ignored: the server assigns 1, 2, 3 …',
  disabled: 'Ignored: shows whether the definition can be started',
  origin: 'Ignored: shows where the version comes from, such as a commit',
  description: 'A description for readers',
  defaultErrorBehavior:
    'What happens when a step fails, unless the step or a step around it overrides it',
  defaultErrorRetryInterval: 'Delay before a retry, for steps without their own RetryInterval',
  input: 'JSON Schema (draft 2020-12) of the start data. Invalid data is rejected',
  index:
    'Fields of the data by which runs are found, each a name and a path such as data.customer.id',
  tags: 'Tags of every run. A start can add to them and override them',
  retention:
    'How long ended runs are kept, from 1 second. Overrides instance_retention_seconds of the server',
  steps: 'The steps; a run starts with the first one',
};

export const STEP_MEMBER_SUMMARIES: Readonly<Record<StepMember, string>> = {
  id: 'Unique in the whole definition, including steps in Do and CompensateWith',
  stepType: 'A built-in step type, or the name of a custom step',
  name: 'A description for readers',
  nextStepId: 'The next step',
  selectNextStep: 'Further next steps: each one whose expression is true runs',
  inputs: 'The inputs of the step',
  outputs: 'The fields of the data to set from the result',
  do: 'The sequences that a container runs. A plain list of steps is one sequence',
  cancelCondition: 'The step is cancelled as soon as this is true',
  proceedOnCancel: 'Whether the next steps run after the step is cancelled',
  errorBehavior: 'What happens when the step fails',
  retryInterval: 'Delay before a retry',
  maxRetries: 'Maximum number of retries',
  retryBackoff: 'Factor by which the delay grows with each retry, up to one day',
  retryJitter: 'Random extra delay, as a fraction of the delay',
  onRetriesExhausted:
    'What happens when the last retry has failed, or when the error is not retryable',
  nonRetryable: 'Error types that are not retried',
  timeout: 'Maximum time for one attempt',
  compensateWith: 'The steps that undo this one, beginning with the first',
  saga: 'Whether a failure inside compensates everything that completed inside',
};
