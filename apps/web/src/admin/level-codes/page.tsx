import type { LevelCode } from '@netlet/contract'
import { LEVEL_NAMES } from '@netlet/contract/limits'
import { rewards } from '../../api/routes.ts'
import { LevelCodeForm } from '../../kit/schemas.ts'
import { code, column, defineResource, integer, integerField, money, moneyField, textField } from '../kit/index.ts'

const nameOf = ({ level }: LevelCode): string => [level, LEVEL_NAMES[level]].filter(Boolean).join(' · ')

/** The five levels: from how many points on, and the discount code that a customer of the level gets at the checkout. */
export default defineResource({
  key: 'level-codes',
  list: rewards.levelCodes,
  nameOf,
  columns: [
    column('level', nameOf, { lead: true }),
    integer('point'),
    code('code'),
    money('discount', { prefix: '$' })
  ],
  form: {
    schema: LevelCodeForm,
    fields: [moneyField('discount'), textField('code', { mono: true }), integerField('point')],
    update: rewards.updateLevelCode,
    undo: true
  },
  csv: true
})
