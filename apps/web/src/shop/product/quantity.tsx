import { IconMinus, IconPlus } from '@tabler/icons-react'
import { ActionIcon } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useT } from '../../i18n/product.ts'
import { numberText } from '../../kit/number.ts'
import { presets, wholeSteps } from './choice.ts'
import classes from './order-box.module.css'

type Props = { value: number; step: number; stock: number; onChange: (quantity: number) => void }

/** A number of addresses in whole steps. What is typed is rounded to a step when the field is left. */
export function Quantity({ value, step, stock, onChange }: Props) {
  const t = useT()
  const [typed, setTyped] = useState(String(value))
  useEffect(() => setTyped(String(value)), [value])
  const settle = () => {
    const next = wholeSteps(Number(typed), step, stock)
    setTyped(String(next))
    onChange(next)
  }
  const most = wholeSteps(stock, step, stock)
  return (
    <div className={classes.quantity}>
      <ActionIcon
        variant="default"
        size={38}
        aria-label={t('quantity.less')}
        disabled={value <= step}
        onClick={() => onChange(value - step)}
      >
        <IconMinus size={16} />
      </ActionIcon>
      <input
        className="num"
        inputMode="numeric"
        aria-labelledby="quantity"
        value={typed}
        onChange={event => setTyped(event.currentTarget.value.replace(/\D/g, '').slice(0, 6))}
        onBlur={settle}
        onKeyDown={event => {
          if (event.key === 'Enter') settle()
          if (event.key === 'ArrowUp') onChange(wholeSteps(value + step, step, stock))
          if (event.key === 'ArrowDown') onChange(wholeSteps(value - step, step, stock))
        }}
      />
      <ActionIcon
        variant="default"
        size={38}
        aria-label={t('quantity.more')}
        disabled={value >= most}
        onClick={() => onChange(value + step)}
      >
        <IconPlus size={16} />
      </ActionIcon>
    </div>
  )
}

/** Quantities to take at once, in doubling steps up to what there is. */
export function Presets({ value, step, stock, onChange }: Props) {
  const t = useT()
  const offered = presets(step, stock)
  if (offered.length < 2) return null
  return (
    <div className={classes.presets} role="group" aria-label={t('quantity.presets')}>
      {offered.map(quantity => (
        <button key={quantity} type="button" aria-pressed={quantity === value} onClick={() => onChange(quantity)}>
          {numberText(quantity)}
        </button>
      ))}
    </div>
  )
}
