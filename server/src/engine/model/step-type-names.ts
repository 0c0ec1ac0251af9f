/** The built-in step types, in their canonical spelling. */
export const BUILT_IN_STEP_TYPES = [
  'EmitLog',
  'NoOp',
  'Decide',
  'If',
  'While',
  'Foreach',
  'Parallel',
  'Sequence',
  'Delay',
  'Schedule',
  'Recur',
  'WaitFor',
  'Activity',
  'HttpRequest',
  'SubWorkflow',
  'Fail',
] as const;
export type BuiltInStepType = (typeof BUILT_IN_STEP_TYPES)[number];
