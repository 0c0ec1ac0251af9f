/** The members of a file of tests: their names, and what they mean. The reader and the schema for editors use them. */

export const FILE_MEMBERS = {
  Definition: 'The path of the tested definition, relative to this file',
  Uses: 'Paths of more definitions that runs start, relative to this file. Sub-workflows in the folder of the definition are found without it',
  Cases: 'The tests, each on a server of its own',
} as const;

export const CASE_MEMBERS = {
  Name: 'The name of the case, which is unique in the file',
  Start: 'The data of the run. Default: {}',
  Trigger:
    'The name of a trigger that starts the run, instead of Start: at the time of its cron expression, or when its event is published. If it starts several runs, the case is about the newest',
  Reference: 'The reference of the run',
  Tags: 'The tags of the run, a map of text to text',
  Now: 'The time of the start, such as 2030-01-31T09:00:00Z. Default: 2030-01-01T00:00:00Z',
  Seed: 'A whole number from which all ids and random numbers are made. Default: 1',
  Environment: 'The environment that expressions see: a map of text to text',
  Secrets:
    'Values of secrets, a map of text to text; null: the secret is missing. Others have the value test value of NAME',
  Mocks:
    'Answers of the world outside, by activity name, step id, custom step or sub-workflow: one answer for all calls, or a list with one for each call. An empty list: nobody answers',
  Then: 'What happens after the start, in this order',
  Expect: 'What must hold at the end',
} as const;

export const ANSWER_MEMBERS = {
  Result:
    'The result of an activity, the variables of a custom step, or the data of a sub-workflow',
  Response: 'The response to an HttpRequest step: status, body, headers',
  Fail: 'A failure: a text, or what a worker would report',
  Retryable: 'With Fail: whether the step is retried. Default: true',
  After: 'How long the call takes, such as 4s. Advance moves the time. Default: 0',
} as const;

export const RESPONSE_MEMBERS = {
  Status: 'The status code. Default: 200',
  Body: 'The body. Default: null',
  Headers: 'The headers, a map of text to text',
} as const;

export const ACTION_MEMBERS = {
  Advance: 'Moves the time, such as 3d, 2h 30m, 45s, or a duration as in definitions',
  Publish: 'Publishes an event: Name, Key, Data',
  Expect: 'What must hold now',
} as const;

export const EVENT_MEMBERS = {
  Name: 'The name of the event',
  Key: 'The key of the event',
  Data: 'The data of the event. Default: null',
} as const;

export const EXPECT_MEMBERS = {
  Status: 'The status of the run',
  Outcome: 'The outcome of the run',
  Data: 'A part of the data: members that are not named may have any value; lists must have the same length',
  Reference: 'The reference of the run',
  Tags: 'Some of the tags of the run, a map of text to text',
  Runs: 'How many runs of the definition there are: those that the trigger has started',
  Error: 'A part of the last error: stepId, type, message, data, attempt',
  Calls: 'How often each mock was called',
  Steps: 'The ids of all completed steps in order, without steps that contain others',
  Waiting: 'The ids of the steps that the run waits for, in any order',
  Snapshot: 'With true: all data must equal the stored snapshot, which `--update` writes',
} as const;

export const STATUSES = ['Runnable', 'Suspended', 'Complete', 'Terminated'] as const;
export const OUTCOMES = ['Succeeded', 'Compensated', 'Failed', 'Terminated'] as const;

export const CASES_MAX = 10_000;
