/** The limits of a server without any setting. */
import { apiLimits, httpLimits, pythonLimits } from '../../src/config/limits.js';
import { readConfig } from '../../src/config/read-config.js';

const config = readConfig({});

export const DEFAULT_API_LIMITS = apiLimits(config);
export const DEFAULT_HTTP_LIMITS = httpLimits(config);
export const DEFAULT_PYTHON_LIMITS = pythonLimits(config);
