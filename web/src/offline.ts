/** The page that a service worker shows, at any address, where the real one can't be fetched. */
import { mount } from 'svelte'
import './look/tokens.css'
import './look/base.css'
import { speech } from './messages/words.svelte'
import Offline from './offline/Offline.svelte'

const target = document.getElementById('app')
if (!target) throw new Error('no #app in the page')

speech.begin()
mount(Offline, { target })
