import { mount } from 'svelte'
import { feel } from './feel/feel'
import { site } from './lib/config.svelte'
import { TvSession } from './lib/tv.svelte'
import { speech } from './messages/words.svelte'
import { keepOfflinePage } from './offline/register'
import './look/tokens.css'
import './look/base.css'
import Tv from './places/Tv.svelte'

const target = document.getElementById('app')
if (!target) throw new Error('no #app in the page')

speech.begin()
feel.begin()
const session = new TvSession()
session.ear = feel
addEventListener('online', () => session.wake())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') session.wake()
})
void site.load()
const code = new URLSearchParams(location.search).get('code')
if (code) session.watch(code)
mount(Tv, { target, props: { session } })
keepOfflinePage()
