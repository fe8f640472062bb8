import { IconMinus, IconPlus } from '@tabler/icons-react'
import { ActionIcon } from '@mantine/core'
import { useState } from 'react'
import { useT } from '../../i18n/product.ts'
import { numberText } from '../../kit/number.ts'
import { MOST_ADDRESSES, presets, typedNumber, wholeSteps } from './choice.ts'
import classes from './quantity.module.css'

type Props = { value: number; step: number; most: number; onChange: (quantity: number) => void }

/** A number of addresses in whole steps. `onChange` gets every typed value; the field rounds on blur. */
export function Quantity({ value, step, most, onChange }: Props) {
  const t = useT()
  const [typed, setTyped] = useState<string | null>(null)
  const choose = (quantity: number) => {
    setTyped(null)
    onChange(quantity)
  }
  const type = (text: string) => {
    // Chinese input methods may produce full-width digits.
    const kept = text
      .normalize('NFKC')
      .replaceAll(/[^\d.,]/g, '')
      .slice(0, 9)
    setTyped(kept)
    // Accept more than the stock, because the page explains why it is lowered.
    if (/\d/.test(kept)) onChange(wholeSteps(typedNumber(kept), 1, MOST_ADDRESSES))
  }
  const last = wholeSteps(most, step, most)
  return (
    <div className={`row unwrapped stretch ${classes.quantity}`} style={{ gap: '0.35rem', maxWidth: '100%' }}>
      <ActionIcon
        variant="default"
        size={38}
        aria-label={t('quantity.less')}
        disabled={value <= step}
        onClick={() => choose(value - step)}
      >
        <IconMinus size={16} />
      </ActionIcon>
      <input
        className="num"
        inputMode="numeric"
        aria-labelledby="quantity"
        value={typed ?? String(value)}
        onChange={event => type(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
        onKeyDown={event => {
          if (event.key === 'Enter') setTyped(null)
          if (event.key === 'ArrowUp') choose(wholeSteps(value + step, step, most))
          if (event.key === 'ArrowDown') choose(wholeSteps(value - step, step, most))
        }}
      />
      <ActionIcon
        variant="default"
        size={38}
        aria-label={t('quantity.more')}
        disabled={value >= last}
        onClick={() => choose(value + step)}
      >
        <IconPlus size={16} />
      </ActionIcon>
    </div>
  )
}

/** Buttons for quantities in doubling steps, up to the limit. */
export function Presets({ value, step, most, onChange }: Props) {
  const t = useT()
  const offered = presets(step, most)
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
