import type { LevelCode } from '@netlet/contract'
import { IconCloudSearch, IconCloudUpload } from '@tabler/icons-react'
import { rewards } from '../../api/routes.ts'
import { levelName, useLevelNames } from '../../i18n/names.ts'
import { discountText } from '../../kit/money.ts'
import { LevelCodeForm } from '../../kit/schemas.ts'
import {
  choiceField,
  code,
  column,
  defineResource,
  discountField,
  integer,
  integerField,
  optional,
  textField
} from '../kit/index.ts'
import { platformColumn, platformFilter } from '../platform-codes/on-platform.tsx'

const nameOf = ({ level }: LevelCode): string => [level, levelName(level)].filter(Boolean).join(' · ')

/** A component, so that it can wait for the level names in the current language. `nameOf` then finds them loaded. */
function Name({ level }: { level: number }) {
  const { nameOf: levelNameOf } = useLevelNames()
  return <>{[level, levelNameOf(level)].filter(Boolean).join(' · ')}</>
}

/** The five levels: the points they need, and their discount code for the checkout. */
export default defineResource({
  key: 'level-codes',
  list: rewards.levelCodes,
  nameOf,
  columns: [
    column('level', ({ level }: LevelCode) => <Name level={level} />, { lead: true }),
    integer('point'),
    code('code'),
    column('discount', (level: LevelCode) => discountText(level), { align: 'end' }),
    platformColumn({ kind: 'level_code', list: rewards.levelCodes }, (_level: LevelCode) => false)
  ],
  filters: [platformFilter],
  form: {
    schema: LevelCodeForm,
    fields: [
      discountField('discount', 'discount_type'),
      optional(choiceField('discount_type', ['amount', 'percent'], 'codes.type')),
      textField('code', { mono: true }),
      integerField('point')
    ],
    update: rewards.updateLevelCode,
    undo: true
  },
  batch: [
    { name: 'level_code.check', icon: IconCloudSearch },
    { name: 'level_code.create_there', icon: IconCloudUpload }
  ],
  csv: true
})
