/** Changes of an instance that others may want to be told about. */
export type InstanceChange = 'started' | 'completed' | 'failed' | 'suspended' | 'terminated';

/** What others could have been told last. `new`: nothing yet. */
export type ToldStatus = 'new' | 'running' | Exclude<InstanceChange, 'started'>;
