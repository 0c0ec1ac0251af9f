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
  'reference',
  'onConflict',
  'conflictScope',
  'priority',
  'fairness',
  'concurrency',
  'retention',
  'triggers',
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
  'limits',
  'compensateWith',
  'saga',
  'grace',
] as const;

/** The members of a trigger, in canonical order. */
export const TRIGGER_MEMBERS = [
  'name',
  'cron',
  'timeZone',
  'overlap',
  'catchUp',
  'jitter',
  'event',
  'debounce',
  'data',
  'reference',
] as const;

export const EVENT_MEMBERS = ['name', 'key'] as const;

export const DEBOUNCE_MEMBERS = ['period', 'key', 'max', 'data'] as const;

export const CONCURRENCY_MEMBERS = ['limit', 'key', 'onFull', 'maxQueued'] as const;

export const FAIRNESS_MEMBERS = ['key', 'weight'] as const;

/** The members of an entry of Limits. */
export const STEP_LIMIT_MEMBERS = ['name', 'key', 'units'] as const;

export type TriggerMember = (typeof TRIGGER_MEMBERS)[number];
export type ConcurrencyMember = (typeof CONCURRENCY_MEMBERS)[number];
export type FairnessMember = (typeof FAIRNESS_MEMBERS)[number];
export type StepLimitMember = (typeof STEP_LIMIT_MEMBERS)[number];
export type DebounceMember = (typeof DEBOUNCE_MEMBERS)[number];
export type EventMember = (typeof EVENT_MEMBERS)[number];
export type DefinitionMember = (typeof DEFINITION_MEMBERS)[number];
export type StepMember = (typeof STEP_MEMBERS)[number];

/** The meaning of each member, in the words of the reference for authors. */
export const DEFINITION_MEMBER_SUMMARIES: Readonly<Record<DefinitionMember, string>> = {
  id: 'The name used to start runs',
  version: 'Ignored: the server assigns 1, 2, 3 …',
  disabled: 'Ignored: shows whether the definition can be started',
  origin: 'Ignored: shows where the version comes from, such as a commit',
  description: 'A human-readable description',
  defaultErrorBehavior:
    'What happens when a step fails, unless the step or an enclosing step overrides it',
  defaultErrorRetryInterval: 'Delay before a retry, for steps without their own RetryInterval',
  input: 'JSON Schema (draft 2020-12) of the start data. Invalid data is rejected',
  index: 'Data fields for finding runs, each with a name and a path such as data.customer.id',
  tags: 'Tags of every run. A start can add tags and override them',
  reference: 'The default reference of runs, an expression over the start data',
  onConflict: 'What happens if another run has the same reference. A start can override it',
  conflictScope:
    'Which other runs count for OnConflict: open runs, or all kept runs. A start can override it',
  priority:
    'The order in which work waits: 1 goes first, 5 last; default 3. A start can override it',
  fairness:
    'Work of equal priority is handed out in turns, in proportion to the weights of its keys. A start can override it',
  concurrency:
    'How many runs are open at a time, of all versions together, for each key; the newest version counts',
  retention:
    "How long ended runs are kept, at least 1 second. Overrides the server's instance_retention_seconds",
  triggers: 'Start runs without a client: at times (Cron) or on events (Event)',
  steps: 'The steps; a run starts with the first one',
};

export const TRIGGER_MEMBER_SUMMARIES: Readonly<Record<TriggerMember, string>> = {
  name: 'Unique among the triggers of the definition',
  cron: 'The times: a cron expression of 5 or 6 fields, or @hourly, @daily, @weekly, @monthly or @yearly',
  timeZone: 'IANA time zone of the cron expression; default UTC',
  overlap: 'What happens when the run before is still open; default Skip',
  catchUp: 'Missed times up to this old are caught up; default 1 minute',
  jitter: 'Each start is delayed by up to this time',
  event: 'The Name of the events that start a run, and optionally their Key',
  debounce: 'Events that follow each other within its Period start one run',
  data: 'The start data; expressions can use context.Trigger',
  reference: 'The reference of the run, an expression',
};

export const EVENT_MEMBER_SUMMARIES: Readonly<Record<EventMember, string>> = {
  name: 'The name of the events',
  key: 'The key of the events; default: any key',
};

export const DEBOUNCE_MEMBER_SUMMARIES: Readonly<Record<DebounceMember, string>> = {
  period: 'The run begins this long after the last event that has joined it',
  key: 'Which events belong together, an expression over context.Trigger; default: all of them',
  max: 'The run begins this long after the first event at the latest; default 10 × Period',
  data: 'Whose data the run gets: last (default), first, or list for all of them in items',
};

export const CONCURRENCY_MEMBER_SUMMARIES: Readonly<Record<ConcurrencyMember, string>> = {
  limit: 'Maximum number of open runs for each key',
  key: 'An expression over the start data; default: all runs share one limit',
  onFull: 'What happens to further starts: Queue (default) lets them wait, Reject refuses them',
  maxQueued: 'Maximum number of runs that wait for each key; further starts are refused',
};

export const FAIRNESS_MEMBER_SUMMARIES: Readonly<Record<FairnessMember, string>> = {
  key: 'An expression over the start data, such as data.tenant: whose work it is',
  weight: 'The share of the key, from 0.01 to 100; default 1. An expression, or a number',
};

export const STEP_LIMIT_MEMBER_SUMMARIES: Readonly<Record<StepLimitMember, string>> = {
  name: 'The name of the limit',
  key: 'An expression; each value has the whole limit for itself; default: all steps share it',
  units: 'How much of the limit the step needs; default 1',
};

export const STEP_MEMBER_SUMMARIES: Readonly<Record<StepMember, string>> = {
  id: 'Unique in the whole definition, including steps in Do and CompensateWith',
  stepType: 'A built-in step type, or the name of a custom step',
  name: 'A human-readable description',
  nextStepId: 'The next step',
  selectNextStep: 'Additional next steps: each one whose expression is true runs',
  inputs: 'The inputs of the step',
  outputs: 'The fields of the data to set from the result',
  do: 'The sequences that a container runs. A plain list of steps is one sequence',
  cancelCondition: 'The step is canceled as soon as this is true',
  proceedOnCancel: 'Whether the next steps run after the step is canceled',
  errorBehavior: 'What happens when the step fails',
  retryInterval: 'Delay before a retry',
  maxRetries: 'Maximum number of retries',
  retryBackoff: 'Factor by which the delay grows with each retry, up to one day',
  retryJitter: 'Random extra delay, as a fraction of the delay',
  onRetriesExhausted:
    'What happens when the last retry has failed, or when the error is not retryable',
  nonRetryable: 'Error types that are not retried',
  timeout: 'Maximum time for one attempt',
  limits: 'The limits of the server that the step needs slots of, by name',
  compensateWith: 'The steps that undo this one, beginning with the first',
  saga: 'Whether a failure inside compensates everything that has begun inside',
  grace: 'How long a saga waits for work in flight before undoing it',
};
