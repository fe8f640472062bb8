export { grantPoints, type Grant } from './grant.ts'
export { levelOf, levelThresholds, type Threshold } from './levels.ts'
