/** The definitions that the tests of commands run. */
export const ORDER = `
Id: order
Input:
  type: object
  required: [order]
Index:
  order: data.order
Steps:
  - Id: check
    StepType: NoOp
    NextStepId: ask
  - Id: ask
    StepType: WaitFor
    Inputs:
      EventName: '"approved"'
      EventKey: data.order
    Outputs:
      approved: step.EventData
    NextStepId: finish
  - Id: finish
    StepType: NoOp
`;

export const PACK = `
Id: pack
Steps:
  - Id: pack
    StepType: Activity
    Inputs:
      ActivityName: '"pack-box"'
      Parameters: data
`;

/** Ends as its data says: Fail or not, and how. */
export const ENDING = `
Id: ending
Steps:
  - Id: work
    StepType: NoOp
    SelectNextStep:
      fail: data.how == "fail"
      suspend: data.how == "suspend"
  - Id: fail
    StepType: Fail
    ErrorBehavior: Terminate
    Inputs: { Message: 'data.message' }
  - Id: suspend
    StepType: Fail
    ErrorBehavior: Suspend
    Inputs: { Message: 'data.message' }
`;

/** Fails, and waits an hour for its next attempt. */
export const RETRYING = `
Id: retrying
Steps:
  - Id: try
    StepType: NoOp
    Outputs: { result: data.missing }
    ErrorBehavior: Retry
    RetryInterval: '01:00:00'
`;
